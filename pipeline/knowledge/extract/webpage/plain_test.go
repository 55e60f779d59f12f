package webpage_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"nightdesk/pipeline/knowledge/extract/webpage"
	"nightdesk/topicqueue"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain text": "plain text",
		"<jats:sec><jats:title>Aim</jats:title><jats:p>To see.</jats:p></jats:sec>": "Aim\nTo see.",
		"CO<sub>2</sub> at <i>T</i>&nbsp;= 3&#160;K":                                "CO2 at T = 3 K",
		"for a<b and c>d, p < 0.05 & n<10":                                          "for a<b and c>d, p < 0.05 & n<10",
		"x<y":                                                                       "x<y",
		"half a tag <jats:p":                                                        "half a tag <jats:p",
		"&lt;p&gt;Twice &amp;lt;escaped&lt;/p&gt;":                                  "Twice <escaped",
		"Marine &amp;amp; Coastal":                                                  "Marine & Coastal",
		"a <xyz>tag</xyz> that nobody knows":                                        "a <xyz>tag</xyz> that nobody knows",
		"<p>One<br/>two</p><p>three</p>":                                            "One\ntwo\nthree",
		`<a href="https://a.example">link</a> and <script>alert("no")</script>text`:                                              "link and text",
		`<jats:alternatives><jats:tex-math>$$x$$</jats:tex-math><mml:math><mml:mi>x</mml:mi></mml:math></jats:alternatives> is`:  "x is",
		"10<sup>5</sup> m s<sup>-1</sup>, Ca<jats:sup>2+</jats:sup> <sup>13</sup>C":                                              "10^5 m s^-1, Ca^2+ 13C",
		"<mml:math><mml:msup><mml:mn>10</mml:mn><mml:mrow><mml:mo>-</mml:mo><mml:mn>5</mml:mn></mml:mrow></mml:msup></mml:math>": "10^(-5)",
		"<math><mfrac><mn>1</mn><mn>2</mn></mfrac><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></math>":                      "1/2x_i^2",
	} {
		if got := webpage.Plain(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func FuzzPlain(f *testing.F) {
	f.Add("<jats:p>a &lt; b</jats:p>")
	f.Add("<a<b<c <!-- <math><mi>")
	f.Fuzz(func(t *testing.T, s string) {
		got := webpage.Plain(s)
		if utf8.ValidString(s) && !utf8.ValidString(got) {
			t.Errorf("%q", got)
		}
		if utf8.ValidString(s) && !strings.ContainsAny(s, "<&") && bare(got) != bare(s) {
			t.Errorf("a text without markup changed: %q, was %q", got, s)
		}
	})
}

// bare returns a text without white space and control characters.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.IsSpace(r) || topicqueue.Hidden(r) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
}
