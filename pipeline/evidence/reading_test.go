package evidence_test

import (
	"testing"

	"nightdesk/pipeline/evidence"
	"nightdesk/topicqueue"
)

func TestReading(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, old, now string
		same           bool
		page, anywhere evidence.Turn // within one page, and across pages
	}{
		{name: "equal", old: "Alder Harbour employs 500 people.", now: "Alder Harbour employs 500 people.", same: true},
		{name: "in other words", old: "Alder Harbour employs 500 people.", now: "500 people are employed at Alder Harbour.", same: true},
		{name: "value", old: "Alder Harbour employs 500 people in three shifts.", now: "Alder Harbour employs 620 people in three shifts.",
			page: evidence.Turn{Kind: "value", Old: "500", New: "620"}, anywhere: evidence.Turn{Kind: "value", Old: "500", New: "620"}},
		{name: "value, of the next year", old: "Alder Harbour handled 10,000 containers in 2024.", now: "Alder Harbour handled 12,000 containers in 2025.",
			page: evidence.Turn{Kind: "value", Old: "10,000", New: "12,000"}},
		{name: "value, in a longer sentence", old: "Alder Harbour handled 10,000 containers in 2024.", now: "Alder Harbour handled 12,000 containers in 2024, more than Birch Harbour.",
			page: evidence.Turn{Kind: "value", Old: "10,000", New: "12,000"}},
		{name: "date", old: "The tunnel opens on 3 May 2027.", now: "The tunnel opens on 9 June 2028.",
			page: evidence.Turn{Kind: "date", Old: "3 May 2027", New: "9 June 2028"}, anywhere: evidence.Turn{Kind: "date", Old: "3 May 2027", New: "9 June 2028"}},
		{name: "negation", old: "Elm Harbour accepts sailing boats in winter.", now: "Elm Harbour does not accept sailing boats in winter.",
			page: evidence.Turn{Kind: "negation"}, anywhere: evidence.Turn{Kind: "negation"}},
		{name: "another subject", old: "Alder Harbour employs 500 people.", now: "Birch Harbour employs 620 people."},
		{name: "another matter", old: "Alder Harbour employs 500 people.", now: "Alder Harbour moved 620 tonnes of silt."},
		{name: "several values", old: "Of 500 ships 40 were late at Fir Harbour.", now: "Of 620 ships 55 were late at Fir Harbour.",
			page: evidence.Turn{Kind: "value", Old: "500", New: "620"}},
		{name: "one of several rows", old: "R1 refurbished, price 176, stock 46, R2 refurbished, price 301, stock 67", now: "R2 refurbished, price 249, stock 67",
			page: evidence.Turn{Kind: "value", Old: "301", New: "249"}},
		{name: "last figure of a long number", old: "Alder Harbour had 26,052 berths at the end of the year.", now: "Alder Harbour had 26,053 berths at the end of the year.",
			page: evidence.Turn{Kind: "value", Old: "26,052", New: "26,053"}, anywhere: evidence.Turn{Kind: "value", Old: "26,052", New: "26,053"}},
		{name: "another limit", old: "The quay of Fir Harbour takes up to 400 boats.", now: "The quay of Fir Harbour takes up to 500 boats.",
			page: evidence.Turn{Kind: "value", Old: "400", New: "500"}, anywhere: evidence.Turn{Kind: "value", Old: "400", New: "500"}},
		{name: "about", old: "About 500 boats lie at Fir Harbour in summer.", now: "About 540 boats lie at Fir Harbour in summer.",
			page: evidence.Turn{Kind: "value", Old: "500", New: "540"}, anywhere: evidence.Turn{Kind: "value", Old: "500", New: "540"}},
		{name: "end of a range", old: "A berth at Fir Harbour costs between 10 and 20 euros.", now: "A berth at Fir Harbour costs between 10 and 25 euros.",
			page:     evidence.Turn{Kind: "value", Old: "10 and 20 euros", New: "10 and 25 euros"},
			anywhere: evidence.Turn{Kind: "value", Old: "10 and 20 euros", New: "10 and 25 euros"}},
		{name: "row", old: "| paper | 1,605 |", now: "| paper | 3,217 |", page: evidence.Turn{Kind: "value", Old: "1,605", New: "3,217"}},
		{name: "row, its number written otherwise", old: "| paper | 1,605 |", now: "| paper | 1605 |", same: true},
		{name: "row with figures in its label", old: "| 15 to 29 | 6,374 |", now: "| 15 to 29 | 6,384 |", page: evidence.Turn{Kind: "value", Old: "6,374", New: "6,384"}},
		{name: "row with figures in its label, written otherwise", old: "| under 15 | 3,662 |", now: "| under 15 | 3662 |", same: true},
		{name: "row of a year", old: "| 2024 | 3,662 | 44 % |", now: "| 2024 | 3,662 | 45 % |", page: evidence.Turn{Kind: "value", Old: "44 %", New: "45 %"}},
		{name: "row of another label", old: "| paper | 1,605 |", now: "| glass | 1,605 |"},
		{name: "name in a row", old: "| Mayor | Ada Lind |", now: "| Mayor | Boris Hale |", page: evidence.Turn{Kind: "name", Old: "Ada Lind", New: "Boris Hale"}},
		{name: "name at the end", old: "The chief executive of Fir Harbour is Ada Lind.", now: "The chief executive of Fir Harbour is Boris van Hale.",
			page: evidence.Turn{Kind: "name", Old: "Ada Lind", New: "Boris van Hale"}},
		{name: "name at the beginning", old: "Ada Lind heads the office of Fir Harbour.", now: "Boris Hale heads the office of Fir Harbour.",
			page: evidence.Turn{Kind: "name", Old: "Ada Lind", New: "Boris Hale"}},
		{name: "other words", old: "Fir Harbour will open its second quay in Ilkley on 12 May 2026.", now: "Fir Harbour has cancelled its second quay in Ilkley on 12 May 2026.",
			page: evidence.Turn{Kind: "words"}},
		{name: "more words", old: "Fir Harbour spent 5 million euros on research.", now: "Fir Harbour spent 5 million euros on research, an increase of 12 percent."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			claim := func(text string) evidence.Claim {
				return evidence.Claim{Claim: topicqueue.Claim{Text: text, Quote: text}, Source: topicqueue.Source{Title: "Harbour"}}
			}
			r := evidence.Read([]evidence.Claim{claim(tt.old), claim(tt.now)})
			if got := r.Same(0, 1); got != tt.same {
				t.Errorf("Same = %v", got)
			}
			if tt.same {
				return
			}
			for onePage, want := range map[bool]evidence.Turn{true: tt.page, false: tt.anywhere} {
				if got, ok := r.Turned(0, 1, onePage); got != want || ok != (want.Kind != "") {
					t.Errorf("Turned(onePage %v) = %+v, %v; want %+v", onePage, got, ok, want)
				}
			}
		})
	}
}
