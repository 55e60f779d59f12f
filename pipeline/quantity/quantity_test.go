package quantity_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"nightdesk/pipeline/quantity"
)

var kinds = map[quantity.Kind]string{
	quantity.Number: "", quantity.Measure: "", quantity.Money: "", quantity.Percent: "", quantity.Points: "",
	quantity.Date: "date ", quantity.Label: "label ",
}

// show formats quantities as "about 1200000 USD", "date 2024-3-5", "10..12 km".
func show(qs []quantity.Quantity) string {
	var out []string
	for _, q := range qs {
		s := kinds[q.Kind] + map[quantity.Bound]string{quantity.About: "~", quantity.AtLeast: ">=", quantity.AtMost: "<="}[q.Bound]
		if q.Kind == quantity.Date {
			s += when(q.When)
		} else {
			s += fmt.Sprintf("%.6g", q.Low)
		}
		out = append(out, strings.TrimSpace(s+" "+q.Unit))
	}
	return strings.Join(out, ", ")
}

func when(w quantity.When) string {
	s := fmt.Sprint(w.Year)
	if w.Quarter > 0 {
		s += fmt.Sprintf("Q%d", w.Quarter)
	}
	if w.Month > 0 {
		s += fmt.Sprintf("-%d", w.Month)
	}
	if w.Day > 0 {
		s += fmt.Sprintf("-%d", w.Day)
	}
	return s
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		// names with prefixes, raised ones, cents
		"5 kilowattheures, 3 megavatios-hora, 2 Kilowattstunden": "1.8e+07 J, 1.08e+10 J, 7.2e+06 J",
		"8 micrograms, 4 hectolitres, 6 Millimetern":             "8e-09 kg, 0.4 m3, 0.006 m",
		"300 metros cuadrados, 2 mètres cubes, 10 feet square":   "300 m2, 2 m3, 3.048 m",
		"7.5p per kilogram, 80 ct, 12 centimes, 90 Rappen":       "0.075 GBP, 80 cents, 12 cents, 0.9 CHF",
		"3 thousands of euros, 12 Ma, 40 kyr":                    "3000, 1.44e+08 month, 480000 month",
		// other languages
		"Abrió en marzo de 2019 y el 5 de mayo de 2020.":   "date 2019-3, date 2020-5-5",
		"Ouvert le 1er mars 2019, en août 2021.":           "date 2019-3-1, date 2021-8",
		"В марте 2019 года, 12,5 млн тонн, 3,2 млрд евро.": "date 2019-3, 1.25e+07, 3.2e+09 EUR",
		"Los 3.200 millones de dólares, 2,5 miliardi.":     "3.2e+09, 2.5e+09",
		"The Mars 2020 rover, 12 marches.":                 "date 2020, 12",

		"los 4.200 litros de agua, 2,10 mètres et 3 años": "4.2 m3, 2.1 m, 36 month",
		// fractions and parts
		"It rose from 9 in 2008 to 24 in 2021.":   "9, date 2008, 24, date 2021",
		"Es kostet seit Januar 9 statt 8 Euro.":   "9, 8 EUR",
		"It takes 5 minutes, an older one in 50.": "300 s, 50",
		// money and times of other places
		"£3 million a year earlier":                                    "3e+06 GBP",
		"Der Bau begann 1904 um die Ecke.":                             "date 1904",
		"Le Royaume-Uni (78,2 M€) est loin des 91,4 millions d'euros.": "7.82e+07 EUR, 9.14e+07",
		"It paid 40 kroner, 5 zloty and 20 pence.":                     "40 kroner, 5 PLN, 0.2 GBP",
		"Profits went beyond $200 million.":                            ">=2e+08 USD",
		// plain numbers
		"It has 41,200 members.":            "41200",
		"It has 1,234.5 of them.":           "1234.5",
		"Es hat 1.234,5 davon und mehr.":    "1234.5",
		"Es sind 1.234 Leute und 3,5 mehr.": "1234, 3.5",
		"It has 1 234 567 members.":         "1.23457e+06",
		"It has 1\u202f234 members.":        "1234",
		"It has 1'234'567 members.":         "1.23457e+06",
		"It has 12,34,567 voters.":          "1.23457e+06",
		"It grew 0.75 times":                "0.75",
		"numbers 1, 2 and 3":                "1, 2, 3",
		"a list 1,2,3,4":                    "1, 2, 3, 4",
		"exactly 1.5e9 or 2e-3":             "1.5e+09, 0.002",
		"a change of -5 or −2.5":            "-5, -2.5",
		"no. 5 and #7 and § 4.2":            "label 5, label 7, label 4.2",
		// names are no numbers
		"GPT-4, COVID-19, H2O and A380 over 5G": "",
		"version 15 and 1.26.3, Table 2":        "label 15, label 1, label 2",
		"v1.26.3, V2.1 and v8, x1.2.0":          "label 1, label 2.1",
		"at 10:30 on 24/7":                      "",
		"3D and 4x4":                            "",
		// magnitudes
		"1.2 million people":              "1.2e+06",
		"5 Mio. Menschen und 2 Mrd. mehr": "5e+06, 2e+09",
		"人口约1.2万":                         "~12000",
		"1亿2000万人":                        "1.2e+08",
		"10k users and a 7B model":        "10000, 7e+09",
		"2 hundred thousand":              "200000",
		"5 crore and 3 lakh":              "5e+07, 300000",
		// shares
		"12% or 12.5 percent": "12 %, 12.5 %",
		"3 percentage points": "3 pp",
		"25 basis points":     "0.25 pp",
		"um 5 Prozent":        "5 %",
		"下降3个百分点":             "3 pp",
		// money
		"$5bn and US$ 3 million":     "5e+09 USD, 3e+06 USD",
		"€3.5 million":               "3.5e+06 EUR",
		"5 million euros":            "5e+06 EUR",
		"für 5,5 Mio. Euro und mehr": "5.5e+06 EUR",
		"USD 12,000 and 300 CHF":     "12000 USD, 300 CHF",
		"£20 per hour":               "20 GBP",
		"£20 per cubic metre":        "20 GBP",
		"3.4 kWh per cubic metre":    "1.224e+07 J",
		"862 Ml":                     "862000 m3",
		"耗资3亿元":                      "3e+08 CNY",
		"$5-10 billion":              "5 USD, 1e+10",
		// measures
		"3 km, 500m and 2 miles":      "3000 m, 500 m, 3218.69 m",
		"a 10-km run of 5 kilometres": "10000 m, 5000 m",
		"20 °C or 68°F":               "293.15 K, 293.15 K",
		"20 degrees Celsius":          "293.15 K",
		"1.4 GW and 1,400 MW":         "1.4e+09 W, 1.4e+09 W",
		"3 kWh":                       "1.08e+07 J",
		"64KB and 2 GiB":              "64000 B, 2.14748e+09 B",
		"12 square kilometres":        "1.2e+07 m2",
		"48 hours or 2 days":          "172800 s, 172800 s",
		"18 months, 1.5 years":        "18 month, 18 month",
		"a 5-year plan":               "60 month",
		"120 km/h and 50 mph":         "33.3333 m/s, 22.352 m/s",
		"8 mg/l":                      "0.008 kg/m3",
		"3.2 Gbit/s":                  "3.2e+09 bit/s",
		"5 GB per second":             "5e+09 B",
		"长100公里":                      "100000 m",
		"5 tons of steel":             "5000 kg",
		"4 in 10 people":              "4, 10",
		// bounds
		"more than 5 km":                ">=5000 m",
		"at least 30% and up to 3 days": ">=30 %, <=259200 s",
		"no more than 10":               "<=10",
		"fewer than 5 of them":          "<=5",
		"mehr als 20 und rund 30 km":    ">=20, ~30000 m",
		"超过300人":                        ">=300",
		"moreover 5":                    "5",
		"~5 and ≥ 3":                    "~5, >=3",
		// spans
		"10-12 km":                                "10, 12000 m",
		"10–12%":                                  "10, 12 %",
		"between 10 and 12 percent":               "10, 12 %",
		"10 to 12 °C":                             "10, 285.15 K",
		"rose from 10 to 12 percent":              "10, 12 %",
		"zwischen 3 und 5 Tagen":                  "3, 432000 s",
		"10至12公里":                                 "10, 12000 m",
		"by 38.4 billion to 327.6 billion kroner": "3.84e+10, 3.276e+11 kroner",
		"5-6 million euros":                       "5, 6e+06 EUR",
		"1.2亿千瓦时":                                 "4.32e+14 J",
		// dates
		"on 2024-03-05":           "date 2024-3-5",
		"on March 5, 2024 it":     "date 2024-3-5",
		"on 5 March 2024":         "date 2024-3-5",
		"am 5. März 2024":         "date 2024-3-5",
		"am 05.03.2024":           "date 2024-3-5",
		"2024年3月5日":               "date 2024-3-5",
		"2024年":                   "date 2024",
		"3/4/2024 and 25/12/2024": "date 2024, date 2024-12-25",
		"in March 2024":           "date 2024-3",
		"in Q1 2024 and the third quarter of 2023": "date 2024Q1, date 2023",
		"founded in 1998 by two":                   "date 1998",
		"In 2024 sales rose":                       "date 2024",
		"the 2024 report":                          "date 2024",
		"has 2000 employees":                       "date 2000",
		"it has 1998.":                             "date 1998",
		"in the 1990s":                             "date 1990",
		"2019–2021 and from 2001 to 2005":          "date 2019, date 2021, date 2001, date 2005",
		"May 5":                                    "date 0-5-5",
		"you may 5 times":                          "5",
		"mid-1998 and FY2023":                      "date 1998",
		"1998年":                                    "date 1998",
		"":                                         "",
		"$":                                        "", "-": "", "1.": "1", "%": "", "1,": "1",
	} {
		got := quantity.Parse(text)
		if s := show(got); s != want {
			t.Errorf("%q: got %s, want %s", text, s, want)
		}
		checkPlaces(t, text, got)
	}
}

func checkPlaces(t *testing.T, text string, qs []quantity.Quantity) {
	t.Helper()
	last := 0
	for _, q := range qs {
		if q.Start < last || q.End <= q.Start || q.End > len(text) {
			t.Fatalf("%q: %+v", text, q)
		}
		last = q.End
	}
}

func TestPlace(t *testing.T) {
	t.Parallel()
	text := "It cost about €3.5 million, 12 % more than in March 2024."
	var got []string
	for _, q := range quantity.Parse(text) {
		got = append(got, text[q.Start:q.End])
	}
	if want := "€3.5 million|12 %|March 2024"; strings.Join(got, "|") != want {
		t.Errorf("got %q", got)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b          string
		agree, differ bool
	}{
		{"1.2 million people", "1,200,000 people", true, false},
		{"1.2 million people", "1,234,000 people", true, false},
		{"1.2 million people", "1.3 million people", false, true},
		{"3 km", "3,000 m", true, false},
		{"330 m", "1,083 feet", true, false},
		{"324 m", "330 m", false, true},
		{"12%", "12 percentage points", false, false},
		{"12%", "12.4 percent", true, false},
		{"12%", "14 percent", false, true},
		{"$5 million", "€5 million", false, false},
		{"about 100 km", "104 km", true, false},
		{"about 100 km", "150 km", false, true},
		{"more than 100 km", "150 km", true, false},
		{"more than 100 km", "90 km", false, true},
		{"at most 5 days", "6 days", false, true},
		{"20 °C", "68 °F", true, false},
		{"in 1998", "in 1999", false, true},
		{"in 1998", "in March 1998", true, false},
		{"March 5, 2024", "5. März 2024", true, false},
		{"March 5, 2024", "March 6, 2024", false, true},
		{"Q1 2024", "in February 2024", true, false},
		{"Q1 2024", "in May 2024", false, true},
		{"5 Mio. Euro", "€5,000,000", true, false},
		{"1.2万人", "12,000人", true, false},
		{"2 days", "48 hours", true, false},
		{"18 months", "1.5 years", true, false},
		{"100 members", "104 members", true, false},
		{"101 members", "104 members", false, true},
		{"version 15", "version 14", false, true},
	} {
		a, b := quantity.Parse(tc.a), quantity.Parse(tc.b)
		if len(a) != 1 || len(b) != 1 {
			t.Fatalf("%q, %q: %s; %s", tc.a, tc.b, show(a), show(b))
		}
		if got := quantity.Agree(a[0], b[0]); got != tc.agree || got != quantity.Agree(b[0], a[0]) {
			t.Errorf("%s agrees with %s: %v", tc.a, tc.b, got)
		}
		if got := quantity.Differ(a[0], b[0]); got != tc.differ || got != quantity.Differ(b[0], a[0]) {
			t.Errorf("%s differs from %s: %v", tc.a, tc.b, got)
		}
	}
}

// The same limit with another figure is a different statement.
func TestEqual(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b  string
		equal bool
	}{
		{"up to 400 m", "up to 500 m", false},
		{"up to 400 m", "up to 0.4 km", true},
		{"about 500", "about 540", false},
		{"about 500", "500", true},
		{"at least 5 days", "7 days", true},
		{"26,052", "26,053", false},
		{"1.2 million", "1,230,000", true},
		{"in 1998", "in March 1998", true},
		{"5 km", "5 kg", false},
	} {
		a, b := quantity.Parse(tc.a), quantity.Parse(tc.b)
		if len(a) != 1 || len(b) != 1 {
			t.Fatalf("%q, %q: %s; %s", tc.a, tc.b, show(a), show(b))
		}
		if got := quantity.Equal(a[0], b[0]); got != tc.equal || got != quantity.Equal(b[0], a[0]) {
			t.Errorf("%s equals %s: %v", tc.a, tc.b, got)
		}
	}
}

// FuzzParse: positions are in order and within the text, and no two quantities both agree and differ.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"It cost about €3.5 million in Q1 2024", "10-12 km/h, 5.-6.3.2024", "1亿2000万 百分之五", "twenty-five per cent", "US$ 1'234.5e3 × 10^9", "1990s 3rd v1.2.3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		qs := quantity.Parse(s)
		checkPlaces(t, s, qs)
		for i, q := range qs {
			if utf8.ValidString(s) && !utf8.ValidString(s[q.Start:q.End]) {
				t.Errorf("%q cuts a character", s[q.Start:q.End])
			}
			if i > 0 && quantity.Agree(q, qs[i-1]) && quantity.Differ(q, qs[i-1]) {
				t.Errorf("%+v and %+v agree and differ", q, qs[i-1])
			}
		}
	})
}

func BenchmarkParse(b *testing.B) {
	text := strings.Repeat("The bridge, opened on 5 March 2024, cost about €3.5 million (12% more than planned), is 1,234.5 m long and carries 40,000 cars a day. ", 80)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		quantity.Parse(text)
	}
}
