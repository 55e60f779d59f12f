package support_test

import (
	"testing"

	"nightdesk/pipeline/citation/support"
)

// TestCheckRow: the cells of a row are held against what sources say of its first cell, in the unit and of the year that the heads of
// their columns name.
func TestCheckRow(t *testing.T) {
	t.Parallel()
	prose := "In 2023 China installed 23 GWh of storage, the United States 8 GWh and Germany 5 GWh. In 2022 Germany had installed 3 GWh. " +
		"All together made it 42 GWh in 2023, after 16 GWh in 2022. Sales of storage in Germany came to £310 million, 4% of them online. Installers must register with the network operator."
	table := "Storage installed (GWh)\n\n| Country | 2022 | 2023 |\n|---|---|---|\n| China | 9 | 23 |\n| United States | 4 | 8 |\n| Germany | 3 | 5 |\n"
	for name, tt := range map[string]struct {
		head, row, source string
		want              support.Result
		reason            support.Reason
	}{
		"right":                {"Country | Storage (GWh)", "Germany | 5", prose, support.Supported, ""},
		"right of two years":   {"Country | 2022 (GWh) | 2023 (GWh)", "Germany | 3 | 5", prose, support.Supported, ""},
		"years exchanged":      {"Country | 2022 (GWh) | 2023 (GWh)", "Germany | 5 | 3", prose, support.Unsupported, support.ReasonSubject},
		"years first":          {"Year | Storage (GWh)", "2023 | 42", prose, support.Supported, ""},
		"of another year":      {"Year | Storage (GWh)", "2023 | 16", prose, support.Unsupported, support.ReasonSubject},
		"wrong number":         {"Country | Storage (GWh)", "Germany | 99", prose, support.Unsupported, support.ReasonNumber},
		"wrong unit":           {"Country | Storage (MWh)", "Germany | 5", prose, support.Unsupported, support.ReasonUnit},
		"one of three wrong":   {"Country | Storage (GWh) | Sales (£m) | Online", "Germany | 5 | 301 | 4%", prose, support.Unsupported, support.ReasonNumber},
		"money":                {"Country | Storage (GWh) | Sales (£m) | Online", "Germany | 5 | 310 | 4%", prose, support.Supported, ""},
		"from a table":         {"Country | 2022 | 2023", "United States | 4 | 8", table, support.Supported, ""},
		"another row":          {"Country | 2022 | 2023", "Germany | 4 | 8", table, support.Unsupported, support.ReasonSubject},
		"words":                {"Country | Rule", "Germany | installers must register with the network operator", prose, support.Supported, ""},
		"nothing to say":       {"Country | Storage (GWh) | Rule", "Germany | 5 | yes", prose, support.Supported, ""},
		"numbered rows":        {"# | Country | Storage (GWh)", "7 | Germany | 5", prose, support.Supported, ""},
		"names its source":     {"Country | Storage (GWh) | Source", "Germany | 5 | Wochenblatt 1998, p. 77", prose, support.Supported, ""},
		"no head":              {"", "Germany | 5 GWh", prose, support.Supported, ""},
		"more cells than head": {"Country", "Germany | 99 GWh", prose, support.Unsupported, support.ReasonNumber},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := support.New([]support.Source{{ID: "1", Text: tt.source}})
			v := c.CheckRow(tt.head, tt.row, []string{"1"})
			if v.Result != tt.want || v.Reason != tt.reason {
				t.Errorf("%s (%s %q), want %s %s", v.Result, v.Reason, v.Detail, tt.want, tt.reason)
			}
		})
	}
	if v := support.New(nil).CheckRow("", "", nil); v.Result != support.Unverified {
		t.Errorf("no cells, no sources: %+v", v)
	}
}
