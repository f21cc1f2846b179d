from free import free

def test_gap():
    assert free(["09:00-10:00", "11:30-12:00"], 540, 720) == [(600, 690)]
