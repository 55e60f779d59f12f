package recurring_test

import (
	"testing"

	"nightdesk/pipeline/recurring"
)

func TestStamped(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Last updated: 2 January 2026.":                                      true,
		"You are visitor number 88,018 of Varna Optics.":                     true,
		"5003 people have viewed this thread on Varna Optics.":               true,
		"Posted 3 hours ago":                                                 true,
		"12 minutes ago":                                                     true,
		"1.2k views":                                                         true,
		"20 members online":                                                  true,
		"Served at 14:03:22 for session 9f3a77c1.":                           true,
		"Twelve people died when the bridge fell 3 days ago.":                false,
		"The museum had 5,000 visitors in 2025.":                             false,
		"The plant of Varna Optics can make 7,700 units a day.":              false,
		"The company has 300 members.":                                       false,
		"The survey was read by 40 people in the town.":                      false,
		"The office was last renovated in 1998 and has 20 rooms for guests.": false,
	} {
		if got := recurring.Stamped(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// Objects of JSON are rows: one of them may change while the others stand.
func TestRecords(t *testing.T) {
	t.Parallel()
	text := "{\n \"currency\": \"EUR\",\n \"listing\": [\n  {\"item\": \"R1\", \"price\": 150},\n  {\n   \"item\": \"R2\",\n   \"price\": 275\n  }\n ]\n}\n"
	other := "{\"listing\": [{\"item\": \"R1\",   \"price\": 150}, {\"item\": \"R2\", \"price\": 249}]}"
	fresh := recurring.MarksOf(text).Fresh(recurring.Units(other))
	if len(fresh) != 1 || other[fresh[0].Start:fresh[0].End] != `{"item": "R2", "price": 249}` {
		t.Errorf("fresh: %+v", fresh)
	}
}
