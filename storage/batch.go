package storage

// DigestKey returns where a form of the digest of a batch lies. form: md, html or json.
func DigestKey(batch, form string) string { return "batches/" + batch + "/digest." + form }
