'use strict';

const fs = require('fs');
const { join } = require('path');

// Only what ends in these is read.
const SUFFIXES = ['.jar', '.tin'];

/**
 * Reads a shelf: function fake() {}
 * @param {string} folder
 */
async function readShelf(folder) {
  const names = await fs.promises.readdir(folder);
  const wanted = (name) => SUFFIXES.some((suffix) => name.endsWith(suffix));
  return names.filter(wanted).map((name) => join(folder, name));
}

function* numbers() {
  yield 1;
}

class Shelf extends Map {
  #owner = 'class Nobody {';
  static count = 0;

  // An arrow, so that `this` is kept.
  onClick = (event) => {
    this.set(event.id, `function ${event.id}() { }`);
  };

  constructor(owner) {
    super();
    this.#owner = owner;
  }

  get owner() {
    return this.#owner;
  }

  static async *walk() {
    yield* [];
  }
}

const label = (jar) => `${jar.name}: ${jar.grams}`,
  twice = function (jar) { return label(jar) + label(jar); };

Shelf.prototype.empty = function () {
  return this.size === 0;
};

const routes = {
  '/jars'(request) { return request; },
  list: () => [],
  remove: function (id) { return id; },
  limit: 12,
};

module.exports.readShelf = readShelf;
module.exports.open = function (folder) {
  return new Shelf(folder);
};
exports.close = () => {};

describe('a shelf', () => {
  it('is empty at first', () => {
    expect(new Shelf('me').size).toBe(0);
  });
});

(function () {
  function hidden() { return /function no\(\) {/; }
  hidden();
})();
