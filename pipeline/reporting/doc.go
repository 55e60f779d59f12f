// Package reporting writes the report of a run from its evidence.
//
// Duplicate claims are merged, and an outline assigns every block to a section. Each section is written from its own
// claims only. The introduction and the conclusion are based on what the sections cite. Package citation ensures that
// every marker has a source. Every step has a local fallback for runs without a model and for model failures, so
// evidence always becomes a report. Start reading with Reporter.Report. The package stores nothing.
package reporting
