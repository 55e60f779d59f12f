package storage

// SnapshotKey returns where the topics of a scheduled batch lie, as they were when it was fired. hash: of the content.
func SnapshotKey(batch, hash string) string { return "batches/" + batch + "/topics_" + hash + ".json" }
