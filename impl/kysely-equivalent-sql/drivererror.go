package sqllease

import (
	"errors"
	"reflect"
)

// The errors of the drivers are told apart by their codes, without importing
// the drivers: whoever uses one database should not have to build the others'.

// sqlState returns the SQLSTATE of an error of PostgreSQL: both pgx and lib/pq
// have a method for it.
func sqlState(err error) string {
	var coded interface{ SQLState() string }
	if errors.As(err, &coded) {
		return coded.SQLState()
	}
	return ""
}

// mysqlNumber returns the number of an error of MySQL or MariaDB:
// go-sql-driver has it in a field, mysql.MySQLError.Number.
func mysqlNumber(err error) uint64 {
	return field(err, "Number", (reflect.Value).CanUint, (reflect.Value).Uint)
}

// sqliteCode returns the result code of an error of SQLite, extended or not:
// modernc.org/sqlite has a method for it, mattn/go-sqlite3 the field
// sqlite3.Error.Code.
func sqliteCode(err error) int64 {
	var coded interface{ Code() int }
	if errors.As(err, &coded) {
		return int64(coded.Code())
	}
	return field(err, "Code", (reflect.Value).CanInt, (reflect.Value).Int)
}

// field returns a number in an error's struct, or in that of an error which it
// wraps; 0 if there is none.
func field[N int64 | uint64](err error, name string, is func(reflect.Value) bool, value func(reflect.Value) N) N {
	for ; err != nil; err = errors.Unwrap(err) {
		v := reflect.Indirect(reflect.ValueOf(err))
		if v.Kind() != reflect.Struct {
			continue
		}
		if f := v.FieldByName(name); f.IsValid() && is(f) {
			return value(f)
		}
	}
	return 0
}
