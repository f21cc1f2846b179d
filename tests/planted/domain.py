"""What the depot keeps records of: each kind with its fields and their types. `records` makes code of it."""

from __future__ import annotations

KINDS = {
    "lorry": "plate:text axles:count load:grams bought:day leased:flag fuel:choice(diesel,gas,electric)",
    "driver": "name:text licence:text hours:count wage:cents since:day night:flag home:choice(north,south,east)",
    "customer": "name:text town:text credit:cents since:day blocked:flag terms:choice(prepaid,monthly,weekly)",
    "parcel": "sender:text number:count weight:grams value:cents posted:day fragile:flag lane:choice(a,b,c,d)",
    "pallet": "code:text height:count weight:grams packed:day mixed:flag wood:choice(pine,oak,plastic)",
    "crate": "code:text length:count weight:grams price:cents opened:day sealed:flag",
    "dock": "name:text bays:count built:day heated:flag side:choice(left,right)",
    "gate": "name:text lanes:count width:count opened:day guarded:flag shift:choice(day,night,both)",
    "invoice": "number:text amount:cents tax:cents due:day paid:flag currency:choice(eur,chf,jpy)",
    "payment": "reference:text amount:cents fee:cents booked:day refunded:flag way:choice(card,cash,transfer)",
    "claim": "case:text amount:cents photos:count filed:day settled:flag cause:choice(water,drop,theft,delay)",
    "policy": "number:text premium:cents excess:cents begins:day renewed:flag cover:choice(basic,full)",
    "route": "name:text stops:count metres:count planned:day toll:flag season:choice(summer,winter,all)",
    "stop": "street:text minutes:count parcels:count last:day ramp:flag zone:choice(inner,outer,rural)",
    "shift": "team:text begins:count minutes:count day:day holiday:flag role:choice(load,drive,office)",
    "scanner": "serial:text reads:count misses:count serviced:day lent:flag maker:choice(alpha,beta,gamma)",
    "battery": "serial:text cycles:count weight:grams charged:day swollen:flag cell:choice(ion,lead)",
    "tyre": "serial:text metres:count pressure:count fitted:day spare:flag axle:choice(front,middle,rear)",
    "repair": "ticket:text minutes:count cost:cents done:day warranty:flag part:choice(brake,engine,body,light)",
    "inspection": "ticket:text points:count lapses:count held:day passed:flag rank:choice(minor,major,none)",
    "container": "code:text length:count weight:grams rent:cents arrived:day cooled:flag owner:choice(own,leased)",
    "ship": "name:text berths:count draught:count value:cents docked:day foreign:flag size:choice(small,large)",
    "train": "number:text cars:count minutes:count toll:cents left:day late:flag track:choice(one,two,three)",
    "permit": "number:text pages:count fee:cents expires:day local:flag kind:choice(weight,width,danger)",
    "tariff": "name:text size:count price:cents valid:day public:flag unit:choice(gram,litre,metre)",
    "offer": "number:text lines:count price:cents sent:day taken:flag channel:choice(mail,phone,desk)",
    "supplier": "name:text orders:count debt:cents since:day local:flag goods:choice(fuel,paper,parts)",
    "locker": "code:text doors:count rent:cents emptied:day broken:flag size:choice(small,middle,large)",
    "visitor": "name:text visits:count badge:count last:day escorted:flag reason:choice(audit,trade,repair)",
    "alarm": "code:text seconds:count cost:cents raised:day false:flag level:choice(low,high,urgent)",
    "meter": "serial:text reading:count price:cents read:day digital:flag medium:choice(power,water,gas)",
    "lease": "number:text months:count rent:cents signed:day ended:flag object:choice(hall,yard,office)",
    "bridge": "name:text spans:count metres:count bears:grams built:day closed:flag make:choice(steel,stone)",
    "uniform": "code:text pieces:count price:cents issued:day worn:flag size:choice(s,m,l,xl)",
    "course": "title:text hours:count seats:count fee:cents begins:day full:flag topic:choice(safety,law,lifting)",
    "forklift": "serial:text hours:count lifts:grams rent:cents bought:day idle:flag drive:choice(gas,electric)",
}
"""Kind -> its fields; a `choice` names the words that it takes."""


def fields_of(kind: str) -> list[tuple[str, str, list[str]]]:
    """Returns the fields of a kind: name, type and, of a choice, its words."""
    found = []
    for field in KINDS[kind].split():
        name, _, rest = field.partition(":")
        form, _, words = rest.rstrip(")").partition("(")
        found.append((f"is_{name}" if form == "flag" else name, form, words.split(",") if words else []))
    return found
