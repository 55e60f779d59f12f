package storage

// DigestKey returns the key of a batch digest. form: md, html or json.
func DigestKey(batch, form string) string { return "batches/" + batch + "/digest." + form }
