package intake

import (
	"fmt"
	"slices"
	"strings"

	"nightdesk/topicqueue"
)

// Limits of labels, which Redis stores with each run.
const (
	mostRef     = 200 // bytes
	mostTag     = 64  // bytes
	mostTags    = 20
	tagsAllowed = "tags are at most 20, each one line of at most 64 bytes without commas"
)

// checkTags trims and validates tags. It drops empty tags and duplicates.
func checkTags(tags []string) ([]string, error) {
	var out []string
	for _, tag := range tags {
		tag = strings.TrimSpace(tag)
		if tag == "" || slices.Contains(out, tag) {
			continue
		}
		if topicqueue.OneLine(tag) != tag || len(tag) > mostTag || strings.Contains(tag, ",") {
			return nil, fmt.Errorf("tag %q: %s", topicqueue.Clip(tag, 60), tagsAllowed)
		}
		out = append(out, tag)
	}
	if len(out) > mostTags {
		return nil, fmt.Errorf("%d tags: %s", len(out), tagsAllowed)
	}
	return out, nil
}
