package extractive_test

import (
	"slices"
	"strings"
	"testing"

	"nightdesk/pipeline/extractive"
)

// A sentence is refused for what shows that it is a fragment, not for a verb that no list has.
func TestPlainVerbs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"The highest spring tides of the year come near the equinoxes.":                 true,
		"Old oaks on the ridge stand against the wind.":                                 true,
		"The owl preys on voles in long grass.":                                         true,
		"The tides shape the coast.":                                                    true,
		"The keeper then uses the log to find out whether the ship was seen before.":    true,
		"If the fog is thick, the horn sounds twice in every minute.":                   true,
		"Some lamps that burn oil, such as the old one, must be trimmed twice a night.": true,
		"Tides of the year near the equinoxes.":                                         false,
		"The list of the ships in the harbour.":                                         false,
		"A horn that sounds in fog.":                                                    false,
		"The name of the keeper who winds the clockwork.":                               false,
		"If set, wait for the next tide.":                                               false,
		"Conditionally opens the gate of the lock.":                                     false,
		"On the northern side, names the ships that have passed.":                       false,
		"If the lock is closed, returns the number of ships.":                           false,
		"Fresnel, who invented it among the engineers of his day.":                      false,
	} {
		all := extractive.Sentences(text)
		if len(all) != 1 || all[0].Complete != want {
			t.Errorf("%q: complete is not %v: %+v", text, want, all)
		}
	}
	if all := extractive.Sentences("The lens is called after Augustin J. Fresnel, who had proposed it."); len(all) != 1 {
		t.Errorf("cut at an initial: %+v", all)
	}
}

const keeping = "A lighthouse guides ships by a light that is seen from far away. The keeper trims the lamp at dusk. " +
	"A smoking flame darkens the lens.\n\nThe clockwork is wound every four hours. Its weight has then reached the foot of the tower.\n\n" +
	"Remove the shutter from the window.\n\nIf negative, no shutter is set."

// Of a text that is known to be about the query, sentences count that do not name it; a search has none of them.
func TestGist(t *testing.T) {
	t.Parallel()
	said := func(found []extractive.Ranked) string {
		slices.SortFunc(found, func(a, b extractive.Ranked) int { return a.Start - b.Start })
		var out []string
		for _, r := range found {
			if keeping[r.Start:r.End] != r.Text {
				t.Errorf("%q does not stand at its place", r.Text)
			}
			out = append(out, r.Text)
		}
		return strings.Join(out, " ")
	}
	gist := said(extractive.Gist([]string{keeping}, "lighthouse", 8))
	for _, want := range []string{"A lighthouse guides", "trims the lamp", "darkens the lens", "Its weight"} {
		if !strings.Contains(gist, want) {
			t.Errorf("the gist is without %q: %s", want, gist)
		}
	}
	for _, never := range []string{"Remove the shutter", "If negative"} {
		if strings.Contains(gist, never) {
			t.Errorf("the gist has %q: %s", never, gist)
		}
	}
	if ranked := said(extractive.Rank([]string{keeping}, "lighthouse", 8)); strings.Contains(ranked, "darkens") || !strings.Contains(ranked, "A lighthouse") {
		t.Errorf("a search found %q", ranked)
	}
	if found := extractive.Gist([]string{keeping, ""}, "", 8); len(found) != 0 {
		t.Errorf("without a query: %+v", found)
	}
	if found := extractive.Gist([]string{keeping}, "lighthouse", 2); len(found) != 2 {
		t.Errorf("%d for a limit of 2", len(found))
	}
}

func TestHeading(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"gc — Collector of garbage": "gc — Collector of garbage",
		"8.3. the lamp¶":            "the lamp",
		"Chapter 4. Fog":            "Fog",
		"...":                       "",
	} {
		if got := extractive.Heading(text); got != want {
			t.Errorf("Heading(%q) = %q, want %q", text, got, want)
		}
	}
	if got := extractive.Title("the lamp"); got != "The lamp" {
		t.Errorf("a topic becomes %q", got)
	}
}

func TestImperative(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"Remove the shutter from the window.": true, "The keeper removes the shutter.": false, "": false,
	} {
		if got := extractive.Imperative(text); got != want {
			t.Errorf("Imperative(%q) = %v", text, got)
		}
	}
}

func FuzzGist(f *testing.F) {
	f.Add(keeping, "lighthouse")
	f.Add("A b. C\n- d", "潮汐")
	f.Fuzz(func(t *testing.T, text, query string) {
		for _, r := range extractive.Gist([]string{text}, query, 5) {
			if !r.Complete || text[r.Start:r.End] != r.Text {
				t.Fatalf("%q of %q", r.Text, text)
			}
		}
	})
}
