// Package reporting writes the report of a run from its evidence.
//
// An outline names the form of the report, assigns the claims to sections and orders computations over them. One call
// writes all parts if their claims fit; otherwise the sections are written in parallel, then opening and conclusion.
// Package citation ensures that every marker has a source; package checking compares what is written with the sources.
// Steps have local fallbacks for model failures, and without any text of a model the report quotes its sources, so
// evidence always becomes a report. Start reading with Reporter.Report. The package stores nothing.
package reporting
