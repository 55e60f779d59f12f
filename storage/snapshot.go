package storage

// SnapshotKey returns the key of a scheduled batch's topics as they were when the batch started. hash: of the
// content.
func SnapshotKey(batch, hash string) string { return "batches/" + batch + "/topics_" + hash + ".json" }
