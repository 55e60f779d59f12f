// Package checking checks a written report against the sources of its run and records the result. Every sentence that
// cites is compared with the stored text of its sources and, if it is not verbatim there, judged by a model; a
// contradicted sentence is corrected, what stays unsupported is marked or removed. Entry points: Checker.Check for a
// new report, Verification.Recheck and Verification.Compare for a stored one.
package checking
