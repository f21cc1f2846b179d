"""Decides which tokens that a small model drafted a large one takes over: the acceptance of speculative decoding."""


def residual(target, draft):
    """Returns by how much each token is more likely to the large model than to the small one."""
    rest = []
    for i in range(len(target)):
        rest.append(max(float(target[i]) - float(draft[i]), 0.0))
    return rest


def drawn(weights, draw):
    """Returns the token where the running total of weights gets above a share of their sum; the last one where none does."""
    total = 0.0
    for weight in weights:
        total += weight
    running = 0.0
    for token in range(len(weights)):
        running += weights[token]
        if running > draw * total:
            return token
    return len(weights) - 1


def accept_drafts(drafts, small, large, draws):
    """Takes over a prefix of each draft and adds one token of the large model's.

    Args:
        drafts: array of tokens, a draft a row.
        small: array of the small model's probabilities by draft, position and token.
        large: the same of the large model, with one more position.
        draws: array of random numbers from [0, 1): one a position of a draft to accept it by, and a last one for the token that
            is added.

    Returns:
        The tokens of each draft as lists, and how many drafted ones were taken over in all.
    """
    texts = []
    taken = 0
    for row in range(drafts.shape[0]):
        length = drafts.shape[1]
        rests = [residual(large[row, at], small[row, at]) for at in range(length)]
        rests.append([float(p) for p in large[row, length]])
        text = []
        for at in range(length):
            token = int(drafts[row, at])
            if float(draws[row, at]) * float(small[row, at, token]) >= float(large[row, at, token]):
                break
            text.append(token)
        taken += len(text)
        text.append(drawn(rests[len(text)], float(draws[row, length])))
        texts.append(text)
    return texts, taken
