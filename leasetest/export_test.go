package leasetest

// HistoryText shows the history of a failure.
func HistoryText(f *Failure) string { return historyTable(f.History) }

// Later says whether the checks of a clause come later.
func Later(id string) bool { return laterClauses[id] != "" }
