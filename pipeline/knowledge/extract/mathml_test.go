package extract_test

import (
	"testing"

	"nightdesk/pipeline/knowledge/extract"
)

func TestMathML(t *testing.T) {
	t.Parallel()
	for formula, want := range map[string]string{
		`<msup><mi>n</mi><mn>2</mn></msup>`:                                                            "n^2",
		`<mn>3</mn><mo>×</mo><msup><mn>10</mn><mrow><mo>−</mo><mn>6</mn></mrow></msup>`:                "3×10^(−6)",
		`<msub><mi>a</mi><mi>i</mi></msub><mo>+</mo><msubsup><mi>b</mi><mi>i</mi><mn>2</mn></msubsup>`: "a_i+b_i^2",
		`<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>`:                         "(a+b)/c",
		`<mfrac><mn>1</mn><msqrt><mi>x</mi><mo>+</mo><mn>1</mn></msqrt></mfrac>`:                       "1/sqrt(x+1)",
		`<mroot><mi>x</mi><mn>3</mn></mroot>`:                                                          "x^(1/3)",
		`<semantics><mi>x</mi><annotation-xml><ci>y</ci></annotation-xml></semantics>`:                 "x",
		`<semantics><mi>x</mi><annotation encoding="application/x-tex">x_0</annotation></semantics>`:   "$x_0$",
		`<msup><mi>n</mi></msup>`: "n",
	} {
		if got := extract.HTML("<p>Let <math>" + formula + "</math> be.</p>").Text; got != "Let "+want+" be." {
			t.Errorf("%s: got %q, want %q", formula, got, want)
		}
	}
}
