package reporting

import (
	"testing"

	"nightdesk/topicqueue"
)

// A computation uses only figures of its claims and usual constants. Its result is exact.
func TestEvaluate(t *testing.T) {
	t.Parallel()
	of := []claim{{Claim: topicqueue.Claim{Text: "The load is 1.52 MW on average, and 30% is lost.", Quote: "1.52 MW; 30 %"}},
		{Claim: topicqueue.Claim{Text: "Storage for 48 hours costs 310,000 euros each MWh, 2.45 million in 2024, minus 5 a year."}}}
	for expression, want := range map[string]string{
		"48 * 1.52":          "72.96",
		"48*1.52/(1-30/100)": "104.23",
		"48 * 1.52 / (1 - 30/100) * 310000 / 1000000": "32.311",
		"2.45 * 1000000 / 310000":                     "7.9032",
		"2450000 - 310000":                            "2140000",
		"-48 + 48":                                    "0",
		"2024 / 48":                                   "42.167",
		"48 - 5":                                      "43",
		"30 / 48":                                     "0.625",
		"365 * 24 * 1.52":                             "13315",
		"48 * 1.53":                                   "", // no claim has it
		"48 / (48 - 48)":                              "",
		"48 % 30":                                     "",
		"max(48, 30)":                                 "",
		"48":                                          "",
		"48 *":                                        "",
		"310,000 * 48":                                "",
		`"48" + "30"`:                                 "",
		"48 << 30":                                    "",
	} {
		if got, ok := evaluate(expression, of); got != want || ok != (want != "") {
			t.Errorf("%s is %q, %v; want %q", expression, got, ok, want)
		}
	}
}
