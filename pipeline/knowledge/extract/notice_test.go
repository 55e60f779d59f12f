package extract_test

import (
	"errors"
	"testing"

	"nightdesk/pipeline/knowledge/extract"
)

func TestInItsPlace(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		title, text, body string
		want              error
	}{
		{"Tides", "Spring tides rise by 7 metres.", "", nil},
		{"Tides", "The pool is closed for maintenance until 3 May.", "", nil},
		{"Maintenance of pumps", "Pumps are greased once a year.", "", nil},
		{"Just a moment...", "", "", extract.ErrBlocked},
		{"404 - Not Found", "Sorry.", "", extract.ErrNoPage},
		{"Harbour", "The service is temporarily unavailable.", "", extract.ErrAway},
		{"Site under maintenance", "Come again.", "", extract.ErrAway},
		{"Harbour", "Read on with a subscription.", `<input name=p type="password">`, extract.ErrSignIn},
	} {
		if got := extract.InItsPlace(tt.title, tt.text, []byte(tt.body)); !errors.Is(got, tt.want) {
			t.Errorf("%s, %s: %v, want %v", tt.title, tt.text, got, tt.want)
		}
	}
}
