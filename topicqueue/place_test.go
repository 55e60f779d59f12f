package topicqueue_test

import (
	"testing"

	"nightdesk/topicqueue"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	place := topicqueue.Place("Keeping  lighthouses", []string{"Duties", "Lamp"})
	if place != "Keeping lighthouses › Duties › Lamp" || !topicqueue.IsPlace(place) || topicqueue.IsPlace("lamps of lighthouses") {
		t.Errorf("place %q", place)
	}
	if topicqueue.Place("Boats", nil) != "Boats › Boats" {
		t.Errorf("place of a beginning: %q", topicqueue.Place("Boats", nil))
	}
	for other, want := range map[string]bool{
		"Keeping lighthouses › Duties": true, place: true, "keeping LIGHTHOUSES › duties": true,
		"Keeping lighthouses › Duties › Lamp › Oil": false, "Keeping lighthouses › Dut": false, "Boats › Duties": false,
	} {
		if topicqueue.Within(place, other) != want {
			t.Errorf("within %q: %v", other, !want)
		}
	}
}
