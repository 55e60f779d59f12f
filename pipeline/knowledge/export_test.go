package knowledge

// PathOf returns the file of a base.
func PathOf(b *Base) string { return b.path }
