package recurring

// Arrived says which results of a search that is asked again were not there before. before, now: keys of pages in order; known: pages
// that the run has seen in whatever way; full: the list of then was as long as it may be, so that more may have stood below it.
//
// What stands above a result of then has come. What stands below all of them, in a list that was full, may have moved up from where nobody saw
// it, because others are gone: such results are doubtful.
func Arrived(before, now []string, known func(key string) bool, full bool) (arrived, doubtful []int) {
	was := map[string]bool{}
	for _, key := range before {
		was[key] = true
	}
	last := -1
	for i, key := range now {
		if was[key] {
			last = i
		}
	}
	taken := map[string]bool{}
	for i, key := range now {
		switch {
		case key == "" || known(key) || taken[key]:
		case !full || i < last:
			arrived = append(arrived, i)
		default:
			doubtful = append(doubtful, i)
		}
		taken[key] = true
	}
	return arrived, doubtful
}
