package extractive_test

import (
	"testing"

	"nightdesk/pipeline/extractive"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	place := extractive.Place("Keeping  lighthouses", []string{"Duties", "Lamp"})
	if place != "Keeping lighthouses › Duties › Lamp" || !extractive.IsPlace(place) || extractive.IsPlace("lamps of lighthouses") {
		t.Errorf("place %q", place)
	}
	if extractive.Place("Boats", nil) != "Boats › Boats" {
		t.Errorf("place of a beginning: %q", extractive.Place("Boats", nil))
	}
	for other, want := range map[string]bool{
		"Keeping lighthouses › Duties": true, place: true, "keeping LIGHTHOUSES › duties": true,
		"Keeping lighthouses › Duties › Lamp › Oil": false, "Keeping lighthouses › Dut": false, "Boats › Duties": false,
	} {
		if extractive.Within(place, other) != want {
			t.Errorf("within %q: %v", other, !want)
		}
	}
}
