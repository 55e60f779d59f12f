//go:build race

package jobs_test

// raceDetector: the tests run with it, which makes the comparison of texts many times slower.
const raceDetector = true
