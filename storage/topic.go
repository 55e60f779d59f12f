package storage

import (
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"
)

// A topic that is researched again and again has a memory, of which every version is kept:
//
//	topics/<key>/versions/000001.json   each is written once, by whoever creates it
//	topics/<key>/memory.json            a copy of the newest, for readers
//	topics/<key>/nights/<run>.json      its runs, whether they go on from each other or not
//	topics/<key>/remarks/<run>/<n>.json what readers have said about their reports
//
// Whoever writes says which version it has read: two that go on from one version cannot both write the next. Retention
// may delete all versions but the newest, and no bundle of a run that a newest version names: the next run takes its
// texts from there.

// TopicKey returns where the newest memory of a topic lies.
func TopicKey(key string) string { return "topics/" + key + "/memory.json" }

// TopicVersionKey returns where a version of a topic's memory lies; the first is 1.
func TopicVersionKey(key string, version int) string {
	return fmt.Sprintf("%s%06d.json", topicVersions(key), version)
}

// TopicVersion returns the number of the version that lies there, 0 when none can.
func TopicVersion(at string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(path.Base(at), ".json"))
	if err != nil {
		return 0
	}
	return n
}

// TopicNights begins the keys of the runs of a topic, which are TopicNightKey.
func TopicNights(key string) string { return "topics/" + key + "/nights/" }

// TopicNightKey returns where a topic's list of runs has a run.
func TopicNightKey(key, runID string) string { return TopicNights(key) + runID + ".json" }

// TopicRemarks begins the keys of the remarks about the reports of a topic; runID: of one report, empty: of all.
func TopicRemarks(key, runID string) string {
	if runID == "" {
		return "topics/" + key + "/remarks/"
	}
	return "topics/" + key + "/remarks/" + runID + "/"
}

// TopicRun returns the run that a key of a topic belongs to, "" for the topic's memory.
func TopicRun(at string) string {
	parts := strings.Split(at, "/")
	if len(parts) > 3 && (parts[2] == "nights" || parts[2] == "remarks") {
		return strings.TrimSuffix(parts[3], ".json")
	}
	return ""
}

func topicVersions(key string) string { return "topics/" + key + "/versions/" }

// TopicVersions returns where the versions of a topic's memory lie, the oldest first.
func TopicVersions(ctx context.Context, s Store, key string) ([]string, error) {
	return s.List(ctx, topicVersions(key))
}

// PutTopic stores a version of a topic's memory unless there is one of this number; created tells which. Then it must
// be read and judged again. After an error nobody knows; calling again tells.
func PutTopic(ctx context.Context, s Store, key string, version int, body []byte) (created bool, err error) {
	created, err = s.PutNew(ctx, TopicVersionKey(key, version), body)
	if err != nil || !created {
		return false, err
	}
	return true, CopyTopic(ctx, s, key)
}

// CopyTopic makes memory.json the newest version. Of several that do it at once, the last to write finds what is
// newest then.
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
