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
//	topics/<key>/memory.json            copy of the newest version, for readers
//	topics/<key>/nights/<run>.json      runs of the topic, whether or not they update each other
//	topics/<key>/remarks/<run>/<n>.json readers' remarks about the reports
//
// A writer names the version that it has read, so two writers that start from one version cannot both write the next.
// Retention may delete all versions except the newest. It must not delete the bundle of a run that a newest version
// names, because the next run takes its texts from there.

// TopicKey returns the key of a topic's newest memory.
func TopicKey(key string) string { return "topics/" + key + "/memory.json" }

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

// PutTopic stores a version of a topic's memory unless the version exists; created reports whether it was stored. If
// not, the caller must read the memory and judge again. After an error the outcome is unknown; call PutTopic again to
// learn it.
func PutTopic(ctx context.Context, s Store, key string, version int, body []byte) (created bool, err error) {
	created, err = s.PutNew(ctx, TopicVersionKey(key, version), body)
	if err != nil || !created {
		return false, err
	}
	return true, CopyTopic(ctx, s, key)
}

// CopyTopic copies the newest version to memory.json. Of several concurrent calls, the last writer copies the version
// that is newest at that time.
func CopyTopic(ctx context.Context, s Store, key string) error {
	for copied := ""; ; {
		versions, err := TopicVersions(ctx, s, key)
		if err != nil || len(versions) == 0 || versions[len(versions)-1] == copied {
			return err
		}
		copied = versions[len(versions)-1]
		body, err := s.Get(ctx, copied)
		if err != nil {
			return err
		}
		if err := s.Put(ctx, TopicKey(key), body); err != nil {
			return err
		}
	}
}
