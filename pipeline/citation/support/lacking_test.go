package support_test

import (
	"slices"
	"testing"

	"nightdesk/pipeline/citation/support"
)

// TestLacking: what the cited sources lack of a sentence, and the claims that have it, best first.
func TestLacking(t *testing.T) {
	t.Parallel()
	corpus := support.New([]support.Source{
		{ID: "law", Text: "The Ordinance of 2014 sets the reserve at 24 hours for every hospital."},
		{ID: "plan", Text: "The annex of the hospital adds 0.33 MW of cooling.", About: "Plan. Facilities Department, 12 January 2026"},
	})
	others := []string{
		"The amendment takes effect on 1 July 2027 and raises the reserve to 48 hours.\nMinistry of Health",
		"From 1 July 2027 the Ordinance demands 73 MWh of every hospital.",
		"The price fell to 365 euros per kWh.\nInstitute for Storage Economics. 3 September 2025.",
		"Prices of storage fell, the Institute for Storage Economics says, to 365 euros in June 2025.",
		"Der Speicher der Klinik Brenna hat 4 MWh.",
	}
	for name, tt := range map[string]struct {
		sentence, head string
		ids            []string
		missing        []string
		holders        []int
	}{
		"a date": {"Until 1 July 2027 the Ordinance of 2014 sets the reserve for every hospital.", "", []string{"law"},
			[]string{"1 July 2027"}, []int{1, 0}},
		"only the year": {"Until mid-2027 the Ordinance of 2014 applies.", "", []string{"law"}, []string{"2027"}, []int{1, 0}},
		"a row":         {"1 July 2027 | 73", "Rule from | Energy (MWh)", []string{"law"}, []string{"1 July 2027", "73 MWh"}, []int{1}},
		"a name": {"Storage costs 365 euros, says the Institute for Storage Economics.", "", []string{"plan"},
			[]string{"365 euros", "Storage", "Institute", "Economics"}, []int{3, 2}},
		"not in one claim":  {"At 365 euros the 73 MWh are dear.", "", []string{"law"}, []string{"365 euros", "73 MWh"}, nil},
		"nowhere":           {"Since 1987 the hospital has 24 hours.", "", []string{"law"}, []string{"1987"}, nil},
		"of the head":       {"The Facilities Department wrote in January 2026 of 0.33 MW.", "", []string{"plan"}, nil, nil},
		"own words":         {"However, Hospitals need 24 hours.", "", []string{"law"}, nil, nil},
		"begins a sentence": {"Prices rise. The hospital has 0.33 MW of cooling.", "", []string{"plan"}, nil, nil},
		"of two sources":    {"The Ordinance asks 24 hours, the annex adds 0.33 MW.", "", []string{"law", "plan"}, nil, nil},
		"another language":  {"Brenna stores 4 MWh.", "", []string{"law"}, []string{"4 MWh", "Brenna"}, []int{4}},
		"unknown source":    {"It is 365 euros.", "", []string{"none"}, nil, nil},
	} {
		missing, holders := corpus.Lacking(tt.sentence, tt.head, tt.ids, others)
		if !slices.Equal(missing, tt.missing) || !slices.Equal(holders, tt.holders) {
			t.Errorf("%s: %q in %v, want %q in %v", name, missing, holders, tt.missing, tt.holders)
		}
	}
}
