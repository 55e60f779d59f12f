package reporting

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"

	"nightdesk/pipeline/citation"
	"nightdesk/pipeline/evidence"
	"nightdesk/pipeline/quantity"
	"nightdesk/pipeline/text"
	"nightdesk/prompts"
	"nightdesk/topicqueue"
)

// Computations that the outline orders become sources of their own: their text has the expression, the exact result and
// the claims whose figures it uses.

// computedBlock is the block number in the citations of computations. No run has so many blocks.
const computedBlock = 900

// maxComputed is the maximum number of computations in a report.
const maxComputed = 24

// calculation is the tool of computations.
const calculation = "calculation"

// compute adds the valid computations of an outline to the claims, and returns their traces.
func (ol *writer) compute(list []prompts.Computation) (traces []topicqueue.ToolTrace) {
	for _, c := range list {
		var of []claim
		for _, n := range c.Claims {
			if n > 0 && n <= len(ol.claims) {
				of = append(of, ol.claims[n-1])
			}
		}
		expression, what := text.Line(c.Expression), strings.TrimRight(text.Line(prompts.Unmarked(c.What)), ".:：。")
		result, ok := evaluate(expression, of)
		if !ok || what == "" || len(traces) == maxComputed {
			continue
		}
		traces = append(traces, ol.computation(len(traces)+1, what, expression+" = "+result, of))
	}
	ol.addComputed(traces)
	return traces
}

// computation returns the n-th computation as a trace with one claim.
func (ol *writer) computation(n int, what, formula string, of []claim) topicqueue.ToolTrace {
	said := what + ": " + formula
	whole := said + "\n"
	for _, c := range evidence.Distinct(of) {
		whole += "- [" + c.CitationID + "] " + c.Statement() + "\n"
	}
	now := ol.now().UTC()
	source := topicqueue.Source{Kind: topicqueue.SourceCode, Title: what, Section: []string{formula}, RetrievedAt: now,
		Text: whole, Hash: topicqueue.TextHash(whole)}
	source.Document = topicqueue.PagePath(source.Hash)
	source.ID = topicqueue.SourceID(source)
	id := topicqueue.BlockCitationID(computedBlock, n)
	return topicqueue.ToolTrace{
		ToolID: fmt.Sprintf("report/%d", n), CitationID: id, ToolType: calculation, Query: said, Summary: said,
		RawAnswer: source.Document, RawAnswerOriginalSize: len(whole), Timestamp: now, Source: source,
		Claims: []topicqueue.Claim{{ID: id + ".1", CitationID: id, SourceID: source.ID, Text: said, Quote: whole,
			End: len(whole)}},
	}
}

// addComputed adds computations to the registry and the claims. Each belongs to the block of its first operand.
func (ol *writer) addComputed(traces []topicqueue.ToolTrace) {
	if len(traces) == 0 {
		return
	}
	block := map[string]string{}
	for _, c := range ol.claims {
		block[c.CitationID] = c.Block
	}
	for _, t := range traces {
		ol.returned[t.Source.ID] = t.Source
		for _, id := range operands(t.Claims) {
			if of, known := block[id]; known {
				ol.claims = append(ol.claims, evidence.Collect([]topicqueue.ToolTrace{t}, of)...)
				break
			}
		}
	}
	ol.input.Computed = traces
	ol.registry = ol.input.Registry()
}

// keepComputed adds the computations of the last report whose operands have not changed. Text that cites another one
// is written again.
func (ol *writer) keepComputed(traces []topicqueue.ToolTrace) (kept []topicqueue.ToolTrace) {
	cited := evidence.Citations(ol.claims)
	for _, t := range traces {
		changed := func(id string) bool { return ol.moved[id] || !slices.Contains(cited, id) }
		if ids := operands(t.Claims); len(ids) == 0 || slices.ContainsFunc(ids, changed) {
			ol.moved[t.CitationID] = true
			continue
		}
		t.Source.Text = t.Claims[0].Quote
		kept = append(kept, t)
	}
	ol.addComputed(kept)
	return kept
}

// isComputed reports whether a claim is the result of a computation.
func isComputed(c claim) bool {
	id, _ := citation.ParseID(c.CitationID)
	return id.Block == computedBlock
}

// computed returns the claims that are results of computations.
func computed(claims []claim) []claim {
	return slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return !isComputed(c) })
}

// sourced returns the other claims, which quote a source.
func sourced(claims []claim) []claim { return slices.DeleteFunc(slices.Clone(claims), isComputed) }

// operands returns the citations of the claims that computations use.
func operands(claims []topicqueue.Claim) (ids []string) {
	for _, c := range claims {
		for line := range strings.Lines(c.Quote) {
			line, _, _ = strings.Cut(strings.TrimPrefix(line, "- ["), "]")
			if id, ok := citation.ParseID(line); ok {
				ids = append(ids, id.String())
			}
		}
	}
	return ids
}

// evaluate returns the value of an arithmetic expression of numbers, + - * / and parentheses. It is false unless every
// number is a figure of the claims or a usual constant.
func evaluate(expression string, of []claim) (result string, ok bool) {
	e, err := parser.ParseExpr(expression)
	if _, single := e.(*ast.BasicLit); err != nil || single {
		return "", false
	}
	said := ""
	for _, c := range of {
		said += c.Statement() + "\n" + c.Passage() + "\n"
	}
	figures := quantity.Parse(said)
	v, ok := value(e, func(v float64) bool {
		return usual(v) || slices.ContainsFunc(figures, func(q quantity.Quantity) bool {
			same := func(f float64) bool { return math.Abs(math.Abs(f)-v) <= 1e-9*v } // "minus 3" gives 3
			return same(q.Digits) || same(q.Digits*q.Magnitude) || same(q.Low) || same(float64(q.When.Year))
		})
	})
	if !ok {
		return "", false
	}
	f, _ := constant.Float64Val(v)
	places := 0
	if f != 0 && constant.ToInt(v).Kind() != constant.Int {
		places = min(6, max(0, 4-int(math.Floor(math.Log10(math.Abs(f))))))
	}
	if result = strconv.FormatFloat(f, 'f', places, 64); places > 0 {
		result = strings.TrimRight(strings.TrimRight(result, "0"), ".")
	}
	return result, !math.IsInf(f, 0)
}

// value evaluates an expression exactly. known reports whether a number may be used.
func value(e ast.Expr, known func(float64) bool) (v constant.Value, ok bool) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return value(e.X, known)
	case *ast.UnaryExpr:
		if v, ok = value(e.X, known); !ok || e.Op != token.SUB {
			return nil, false
		}
		return constant.UnaryOp(token.SUB, v, 0), true
	case *ast.BasicLit:
		if v = constant.ToFloat(constant.MakeFromLiteral(e.Value, e.Kind, 0)); v.Kind() == constant.Unknown {
			return nil, false
		}
		f, _ := constant.Float64Val(v)
		return v, known(f)
	case *ast.BinaryExpr:
		x, okX := value(e.X, known)
		y, okY := value(e.Y, known)
		if !okX || !okY || !slices.Contains([]token.Token{token.ADD, token.SUB, token.MUL, token.QUO}, e.Op) {
			return nil, false
		}
		if e.Op == token.QUO && constant.Sign(y) == 0 {
			return nil, false
		}
		return constant.ToFloat(constant.BinaryOp(x, e.Op, y)), true
	}
	return nil, false
}

// usual reports whether a number may be used without a claim: a power of ten, the number of days, hours or weeks in a
// longer period, or a number up to twelve, which claims give in words.
func usual(v float64) bool {
	if slices.Contains([]float64{24, 52, 60, 365, 3600, 8760}, v) || v <= 12 && v == math.Trunc(v) {
		return true
	}
	exponent := math.Log10(v)
	return v >= 1 && exponent == math.Trunc(exponent)
}
