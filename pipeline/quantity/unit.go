package quantity

import (
	"math"
	"strings"
	"unicode/utf8"
)

// unit is a unit with the way to its base unit: value*factor + offset.
type unit struct {
	kind           Kind
	base           string
	factor, offset float64
}

// units by name as written; names of more than one letter in lower case also count in other cases, see lookup.
var units = readUnits(`
m: m=1 km=1000 cm=.01 mm=.001 µm=1e-6 μm=1e-6 um=1e-6 nm=1e-9 pm=1e-12 metre metres meter meters metern=1 kilometre kilometres kilometer kilometers kilometern=1000
	centimetre centimetres centimeter centimeters zentimeter zentimetern=.01 millimetre millimetres millimeter millimeters=.001 micrometre micrometres micrometer micrometers micron microns=1e-6
	nanometre nanometres nanometer nanometers=1e-9 mile miles mi meile meilen=1609.344 foot feet ft=.3048 inch inches zoll=.0254 yard yards yd=.9144
	nmi=1852 ly=9.4607e15 公里 千米=1000 米=1 厘米=.01 毫米=.001 微米=1e-6 纳米=1e-9
m2: m² m2 sqm quadratmeter quadratmetern 平方米=1 km² km2 quadratkilometer quadratkilometern 平方公里 平方千米=1e6 cm² cm2=1e-4 mm² mm2=1e-6 ha hectare hectares hektar 公顷=1e4 亩=666.6666666666667 acre acres=4046.8564 mi²=2589988.11 ft² sqft=.09290304
m3: m³ m3 kubikmeter kubikmetern 立方米=1 km³ km3=1e9 cm³ cm3 cc=1e-6 l L litre litres liter liters litern 升=.001 ml mL millilitre millilitres milliliter milliliters 毫升=1e-6 hl hectolitre hectolitres hectoliter hectoliters hektoliter=.1
	gallon gallons=.003785411784 barrel barrels bbl=.158987295
kg: kg kilogram kilograms kilogramm kilo kilos 公斤 千克=1 g gram grams gramm 克=.001 mg milligram milligrams milligramm 毫克=1e-6 µg μg microgram micrograms=1e-9 ng=1e-12
	t tonne tonnes ton tons tonnen 吨=1000 kt kilotonne kilotonnes=1e6 Mt megatonne megatonnes=1e9 Gt gigatonne gigatonnes=1e12 lb lbs pound pounds=.45359237 oz ounce ounces=.028349523
s: s sec secs second seconds sekunde sekunden 秒=1 ms millisecond milliseconds millisekunde millisekunden 毫秒=.001 µs μs us microsecond microseconds=1e-6 ns nanosecond nanoseconds=1e-9
	min mins minute minutes minuten 分钟=60 h hr hrs hour hours stunde stunden 小时=3600 day days tag tage tagen 天=86400 week weeks woche wochen 周=604800
month: month months monat monate monaten 个月=1 quarters=3 year years yr yrs jahr jahre jahren=12 decade decades jahrzehnt jahrzehnte=120 century centuries jahrhundert jahrhunderte=1200
J: J joule joules=1 kJ kilojoule kilojoules=1e3 MJ megajoule megajoules=1e6 GJ gigajoule gigajoules=1e9 TJ=1e12 PJ=1e15 EJ=1e18 Wh=3600 kWh kilowattstunde kilowattstunden 千瓦时=3.6e6 MWh megawattstunden=3.6e9
	GWh gigawattstunden=3.6e12 TWh terawattstunden=3.6e15 cal=4.184 kcal=4184 eV=1.602176634e-19 keV=1.602176634e-16 MeV=1.602176634e-13 GeV=1.602176634e-10 TeV=1.602176634e-7 BTU=1055.06
W: W watt watts 瓦=1 mW milliwatt milliwatts=.001 kW kilowatt kilowatts 千瓦=1e3 MW megawatt megawatts 兆瓦=1e6 GW gigawatt gigawatts 吉瓦=1e9 TW terawatt terawatts=1e12 hp horsepower=745.699872
B: byte bytes=1 kB KB kilobyte kilobytes=1e3 MB megabyte megabytes=1e6 GB gigabyte gigabytes=1e9 TB terabyte terabytes=1e12 PB petabyte petabytes=1e15 EB=1e18 KiB=1024 MiB=1048576 GiB=1073741824 TiB=1099511627776
bit: bit bits=1 kbit Kbit=1e3 Mbit megabit megabits=1e6 Gbit gigabit gigabits=1e9
bit/s: bps=1 kbps Kbps=1e3 Mbps=1e6 Gbps=1e9 Tbps=1e12
Hz: Hz hertz=1 kHz kilohertz=1e3 MHz megahertz=1e6 GHz gigahertz=1e9 THz=1e12
Pa: Pa pascal=1 hPa=100 kPa=1e3 MPa=1e6 GPa=1e9 bar bars=1e5 mbar=100 psi=6894.757 mmHg=133.322368 atm=101325
V: V volt volts=1 mV=.001 kV kilovolt kilovolts=1e3 MV=1e6
A: A amp amps ampere amperes=1 mA milliamps=.001 kA=1e3 µA=1e-6
Ah: Ah=1 mAh=.001
Ω: Ω ohm ohms=1 kΩ=1e3 MΩ=1e6
N: N newton newtons=1 kN=1e3 MN=1e6
Nm: Nm=1
m/s: mph=.44704 kph kmh=.2777777777777778 knots knot kn=.5144444444444445 m/s=1
K: K kelvin=1
mol: mol mols=1 mmol=.001 µmol=1e-6
ppm: ppm=1 ppb=.001
dB: dB dBA decibel decibels=1
deg: ° degree degrees grad=1
px: px pixel pixels=1 MP megapixel megapixels=1e6
FLOP/s: FLOPS=1 GFLOPS=1e9 TFLOPS teraflops=1e12 PFLOPS petaflops=1e15 exaflops=1e18
Sv: Sv sievert sieverts=1 mSv millisieverts=.001 µSv=1e-6
Bq: Bq becquerel becquerels=1 TBq=1e12
cd: cd nits=1
lm: lm lumen lumens=1
x: × times-fold fold=1
`)

func readUnits(list string) map[string]unit {
	found := map[string]unit{}
	base := ""
	var names []string
	for _, field := range strings.Fields(list) {
		if b, ok := strings.CutSuffix(field, ":"); ok {
			base = b
			continue
		}
		name, factor, ok := strings.Cut(field, "=")
		names = append(names, name)
		if !ok {
			continue
		}
		for _, name := range names {
			found[name] = unit{Measure, base, parseFactor(factor), 0}
		}
		names = nil
	}
	for _, name := range strings.Fields("°C ℃ celsius degC 摄氏度") {
		found[name] = unit{Measure, "K", 1, 273.15}
	}
	for _, name := range strings.Fields("°F ℉ fahrenheit degF") {
		found[name] = unit{Measure, "K", 5. / 9, 459.67 * 5 / 9}
	}
	for _, name := range strings.Fields("% ％ percent pct prozent") {
		found[name] = unit{Percent, "%", 1, 0}
	}
	found["‰"] = unit{Percent, "%", .1, 0}
	for _, name := range strings.Fields("promille permille") {
		found[name] = unit{Percent, "%", .1, 0}
	}
	for _, name := range strings.Fields("pp prozentpunkte prozentpunkt prozentpunkten 个百分点") {
		found[name] = unit{Points, "pp", 1, 0}
	}
	for name, currency := range signs {
		found[name] = unit{Money, currency, 1, 0}
	}
	for name, currency := range currencyWords {
		found[name] = unit{Money, currency, 1, 0}
	}
	for _, name := range strings.Fields("pence penny") {
		found[name] = unit{Money, "GBP", .01, 0}
	}
	for _, code := range strings.Fields(currencyCodes) {
		found[code] = unit{Money, code, 1, 0}
	}
	return found
}

// phrases are units of several words, by their first word; the longest first.
var phrases = map[string][]phrase{
	"per":        {{"per cent", unit{Percent, "%", 1, 0}}},
	"percentage": {{"percentage points", unit{Points, "pp", 1, 0}}, {"percentage point", unit{Points, "pp", 1, 0}}},
	"basis":      {{"basis points", unit{Points, "pp", .01, 0}}, {"basis point", unit{Points, "pp", .01, 0}}},
	"degrees":    {{"degrees celsius", unit{Measure, "K", 1, 273.15}}, {"degrees fahrenheit", unit{Measure, "K", 5. / 9, 459.67 * 5 / 9}}},
	"degree":     {{"degree celsius", unit{Measure, "K", 1, 273.15}}},
	"grad":       {{"grad celsius", unit{Measure, "K", 1, 273.15}}},
	"nautical":   {{"nautical miles", unit{Measure, "m", 1852, 0}}},
	"light":      {{"light years", unit{Measure, "m", 9.4607e15, 0}}},
	"us":         {{"us dollars", unit{Money, "USD", 1, 0}}, {"us dollar", unit{Money, "USD", 1, 0}}, {"us-dollar", unit{Money, "USD", 1, 0}}},
	"pounds":     {{"pounds sterling", unit{Money, "GBP", 1, 0}}},
	"swiss":      {{"swiss francs", unit{Money, "CHF", 1, 0}}},
	"canadian":   {{"canadian dollars", unit{Money, "CAD", 1, 0}}},
	"australian": {{"australian dollars", unit{Money, "AUD", 1, 0}}},
	"hong":       {{"hong kong dollars", unit{Money, "HKD", 1, 0}}},
	"watt":       {{"watt-hours", unit{Measure, "J", 3600, 0}}, {"watt hours", unit{Measure, "J", 3600, 0}}},
	"kilowatt":   {{"kilowatt-hours", unit{Measure, "J", 3.6e6, 0}}, {"kilowatt hours", unit{Measure, "J", 3.6e6, 0}}},
	"megawatt":   {{"megawatt-hours", unit{Measure, "J", 3.6e9, 0}}, {"megawatt hours", unit{Measure, "J", 3.6e9, 0}}},
	"gigawatt":   {{"gigawatt-hours", unit{Measure, "J", 3.6e12, 0}}, {"gigawatt hours", unit{Measure, "J", 3.6e12, 0}}},
	"terawatt":   {{"terawatt-hours", unit{Measure, "J", 3.6e15, 0}}, {"terawatt hours", unit{Measure, "J", 3.6e15, 0}}},
}

type phrase struct {
	text string
	unit
}

// prefixed are adjectives that raise a unit of length.
var prefixed = map[string]int{"square": 2, "sq": 2, "cubic": 3}

// unit reads the unit at byte at, after a space or a hyphen or at once.
func (p *parser) unit(at int) (u unit, end int, ok bool) {
	next := p.skipSpace(at, 1)
	if next == at && strings.HasPrefix(p.s[at:], "-") {
		next++ // a 10-km run
	}
	for _, of := range []string{"d'", "d’", "de "} { // millions d'euros
		if rest, ok := strings.CutPrefix(p.s[next:], of); ok && next > at {
			name, _ := wordAt(rest, 0)
			if u, ok := lookup(name); ok && (u.kind == Money || u.kind == Measure && len(name) > 3) {
				return u, next + len(of) + len(name), true
			}
		}
	}
	word, after := wordAt(p.s, next)
	low := strings.ToLower(word)
	for _, ph := range phrases[low] {
		if len(p.s)-next >= len(ph.text) && strings.EqualFold(p.s[next:next+len(ph.text)], ph.text) && !attached(p.s, next+len(ph.text)) {
			return ph.unit, next + len(ph.text), true
		}
	}
	if power, is := prefixed[low]; is {
		inner, end := wordAt(p.s, p.skipSpace(after+len(p.s[after:])-len(strings.TrimPrefix(p.s[after:], ".")), 1))
		if u, ok := lookup(inner); ok && u.base == "m" {
			return unit{Measure, "m" + string(rune('0'+power)), math.Pow(u.factor, float64(power)), 0}, end, true
		}
		return unit{}, at, false
	}
	if low == "um" && next > at && (p.commas || digitAt(p.s, p.skipSpace(after, 1))) { // 1904 um die Ecke: no micrometres
		return unit{}, at, false
	}
	token := tokenAt(p.s, next)
	if u, ok := p.wide(next); ok {
		return u.unit, next + len(u.text), true
	}
	for len(token) > 0 { // km/h as a whole, else km
		if u, ok := lookup(token); ok && (next > at || len(token) > 1 || !attached(p.s, next+len(token))) {
			if end := next + len(token); !attached(p.s, end) && !digitAt(p.s, end) {
				return u, end, true
			}
		}
		cut := strings.LastIndexAny(token, "/·")
		if cut < 0 {
			break
		}
		token = token[:cut]
	}
	return unit{}, at, false
}

// wide reads a unit in Chinese, which no space ends.
func (p *parser) wide(at int) (phrase, bool) {
	r, _ := utf8.DecodeRuneInString(p.s[at:])
	if r < 0x2e80 || isLetter(r) {
		return phrase{}, false
	}
	end := at
	best := phrase{}
	for range 4 {
		_, size := utf8.DecodeRuneInString(p.s[end:])
		if end+size > len(p.s) || size == 0 {
			break
		}
		end += size
		if u, ok := units[p.s[at:end]]; ok {
			best = phrase{p.s[at:end], u}
		}
	}
	return best, best.text != ""
}

// tokenAt returns the letters and signs of a unit: km/h, °C, m², µg/m³.
func tokenAt(s string, i int) string {
	end := i
	for end < len(s) && end-i < 40 {
		r, size := utf8.DecodeRuneInString(s[end:])
		if !isLetter(r) && !strings.ContainsRune("°%‰％²³/·€$£¥￥₹×℃℉Ωµμ", r) && !(end > i && (r == '2' || r == '3')) {
			break
		}
		end += size
	}
	return strings.TrimRight(s[i:end], "/·")
}

// lookup finds a unit as it is written, a word of it in any case, or a quotient of two units.
func lookup(token string) (unit, bool) {
	if u, ok := units[token]; ok {
		return u, true
	}
	if low := strings.ToLower(token); utf8.RuneCountInString(token) > 3 {
		if u, ok := units[low]; ok {
			return u, true
		}
	}
	over, under, ok := strings.Cut(token, "/")
	if !ok || strings.Contains(under, "/") {
		return unit{}, false
	}
	a, okA := units[over]
	b, okB := units[under]
	if !okA || !okB || b.offset != 0 || a.offset != 0 {
		return unit{}, false
	}
	return unit{a.kind, a.base + "/" + b.base, a.factor / b.factor, 0}, true
}

// per takes "per hour" and the like behind a unit, and returns where the whole ends.
func (p *parser) per(at int, q *Quantity, n *number) int {
	next := p.skipSpace(at, 1)
	slash := next < len(p.s) && p.s[next] == '/'
	word, after := wordAt(p.s, next)
	switch {
	case slash:
		after = next + 1
	case word == "per" || word == "pro" || word == "je" || word == "par" || word == "por":
		after = p.skipSpace(after, 1)
	case word == "a" || word == "an" || word == "each":
		after = p.skipSpace(after, 1)
		name, behind := wordAt(p.s, after)
		if next, _ := wordAt(p.s, p.skipSpace(behind, 1)); units[name].base != "s" && units[name].base != "month" && !(q.Kind == Money && (units[name].base == "m3" || units[name].base == "kg")) || agoWords[next] {
			return at // $3m a year earlier
		}
	default:
		return at
	}
	name := tokenAt(p.s, after)
	if strings.Contains(name, "/") {
		name, _, _ = strings.Cut(name, "/")
	}
	if name == "" {
		return at
	}
	if u, ok := lookup(name); ok && u.offset == 0 && u.kind == Measure {
		q.Unit += "/" + u.base
		n.value, n.step = n.value/u.factor, n.step/u.factor
	} else {
		q.Unit += "/" + strings.ToLower(name)
	}
	return after + len(name)
}

// agoWords follow "a year" where it says when, and not how often.
var agoWords = set(`earlier ago before later after previously prior old`)

// ordinal returns the end of 1st, 2nd, 3rd, 4th; at when there is none.
func (p *parser) ordinal(at int) int {
	word, end := wordAt(p.s, at)
	if strings.EqualFold(word, "st") || strings.EqualFold(word, "nd") || strings.EqualFold(word, "rd") || strings.EqualFold(word, "th") {
		return end
	}
	return at
}
