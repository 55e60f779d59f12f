package storage

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// A topic that is researched repeatedly has a memory. Every version of it is kept:
//
//	topics/<key>/versions/000001.json   one version, written once by its creator
//	topics/<key>/nights/<run>.json      runs of the topic, whether or not they update each other
//	topics/<key>/remarks/<run>/<n>.json readers' remarks about the reports
//
// A writer names the version that it has read, so two writers that start from one version cannot both write the next.
// Retention may delete all versions except the newest. It must not delete the bundle of a run that a newest version
// names, because the next run takes its texts from there.

// TopicVersionKey returns the key of a version of a topic's memory. The first version is 1.
func TopicVersionKey(key string, version int) string {
	return fmt.Sprintf("%s%06d.json", topicVersions(key), version)
}

// TopicVersion returns the version number in a key, or 0 if the key has none.
func TopicVersion(at string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(path.Base(at), ".json"))
	if err != nil {
		return 0
	}
	return n
}

// TopicNights returns the key prefix of a topic's runs. TopicNightKey returns the full keys.
func TopicNights(key string) string { return "topics/" + key + "/nights/" }

// TopicNightKey returns the key of a run in a topic's list of runs.
func TopicNightKey(key, runID string) string { return TopicNights(key) + runID + ".json" }

// TopicRemarks returns the key prefix of the remarks about one report of a topic, or about all if runID is empty.
func TopicRemarks(key, runID string) string {
	if runID == "" {
		return "topics/" + key + "/remarks/"
	}
	return "topics/" + key + "/remarks/" + runID + "/"
}

// TopicRun returns the run that a topic key belongs to, or "" for the topic's memory.
func TopicRun(at string) string {
	parts := strings.Split(at, "/")
	if len(parts) > 3 && (parts[2] == "nights" || parts[2] == "remarks") {
		return strings.TrimSuffix(parts[3], ".json")
	}
	return ""
}

func topicVersions(key string) string { return "topics/" + key + "/versions/" }

// TopicVersions returns the keys of the versions of a topic's memory, oldest first.
func TopicVersions(ctx context.Context, s Store, key string) ([]string, error) {
	return s.List(ctx, topicVersions(key))
}
