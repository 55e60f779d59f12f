package support_test

import (
	"testing"

	"nightdesk/pipeline/citation/support"
)

// TestLeftOut: of several values in a sentence those without a date or a verb of their own have those of the clauses before, but for a
// value that they are held against.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	list := "In 2023 China installed 23 GWh of storage, the United States 8 GWh and Germany 5 GWh. In 2022 Germany had installed 3 GWh."
	compared := "Germany installed 5 GWh of storage in 2023, after 3 GWh the year before."
	for _, tt := range []struct {
		sentence, source string
		want             support.Result
	}{
		{"Germany installed 5 GWh of storage in 2023.", list, support.Supported},
		{"In 2023 the United States installed 8 GWh of storage.", list, support.Supported},
		{"Germany installed 5 GWh of storage in 2022.", list, support.Unsupported},
		{"Germany installed 3 GWh of storage in 2023.", list, support.Unsupported},
		{"The United States installed 5 GWh of storage in 2023.", list, support.Unsupported},
		{"In 2023 the United States installed storage.", list, support.Supported},
		{"The United States, Germany and China installed storage in 2023.", list, support.Supported},
		{"The table shows what the United States, Germany and China installed in 2023.", list, support.Supported},
		{"Germany installed 5 GWh of storage in 2023.", compared, support.Supported},
		{"Germany installed 3 GWh of storage in 2023.", compared, support.Unsupported},
	} {
		if v := support.Check(tt.sentence, []support.Source{{ID: "1", Text: tt.source}}); v.Result != tt.want {
			t.Errorf("%s (%s %q): %s", v.Result, v.Reason, v.Detail, tt.sentence)
		}
	}
}
