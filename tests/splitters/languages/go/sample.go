// Package shelf keeps jars.
//
// func Fake() {} is text here.
package shelf

import (
	"errors"
	"fmt"
)

// ErrFull says that there is no room.
var ErrFull = errors.New("func full() {")

const Limit = 12

const (
	Small = iota
	Large
)

// Jar is one jar.
type Jar struct {
	Label string `json:"label"`
	Grams float64
}

type (
	// Store is where jars are.
	Store interface {
		Add(jar Jar) error
		Find(label string) (*Jar, bool)
	}
	Weight = float64
	Filter func(Jar) bool
)

// Shelf holds what fits.
type Shelf[T any] struct {
	jars []Jar
	more map[string]T
}

// New makes a shelf.
func New[T any](limit int) *Shelf[T] {
	const hidden = 3
	return &Shelf[T]{jars: make([]Jar, 0, limit), more: map[string]T{}}
}

// Add puts one jar on the shelf.
func (s *Shelf[T]) Add(jar Jar) error {
	if len(s.jars) == cap(s.jars) {
		return fmt.Errorf("add %q: %w", jar.Label, ErrFull)
	}
	check := func(j Jar) bool { return j.Grams > 0 }
	if !check(jar) {
		return errors.New(`
func (s Shelf) NotHere() {
}
`)
	}
	s.jars = append(s.jars, jar)
	return nil
}

func (Jar) Kind() string { return "jar" }

func (j Jar) String() string {
	return j.Label
}

func init() {
	_ = New[int](Limit)
}
