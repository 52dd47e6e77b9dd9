package chaos

// Process is a program that can be ended and started again, such as a server
// of package integration/server.
type Process interface {
	// Pid is the process on this machine, with whose children the program runs.
	Pid() (int, error)

	// Kill ends the program as a loss of power would, short of the disk, and
	// returns when it is gone.
	Kill() error

	// Stop asks the program to end, and returns when it is gone.
	Stop() error

	// Start starts a program that has ended again, at the same address with the
	// same data, and returns when it answers.
	Start() error
}
