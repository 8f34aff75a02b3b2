import { readFile } from 'node:fs/promises';

export type Weight = number | `${number}g`;

/** What a jar is: interface Fake {} */
export interface Jar<T = unknown> {
  label: string;
  content?: T;
  weigh(scale: Scale): Weight;
}

export enum Size {
  Small = 'small',
  Large = 'large',
}

declare module 'scales' {
  export function calibrate(): void;
}

export namespace Units.Metric {
  export const GRAMS = 1;
  export function round(value: number): number {
    return Math.round(value);
  }
}

// Two ways to call it, one that does it.
export function find(label: string): Jar | undefined;
export function find(index: number): Jar | undefined;
export function find(by: string | number): Jar | undefined {
  return typeof by === 'string' ? undefined : undefined;
}

@sealed
export abstract class Shelf<T> implements Iterable<Jar<T>> {
  private readonly jars: Jar<T>[] = [];

  constructor(public readonly limit = 12) {}

  @logged('class Fake {')
  async add(jar: Jar<T>): Promise<void> {
    this.jars.push(jar);
  }

  get(index: number): Jar<T>;
  get(label: string): Jar<T>;
  get(by: any): any {
    return this.jars[by];
  }

  abstract price(jar: Jar<T>): number;

  *[Symbol.iterator]() {
    yield* this.jars;
  }

  protected handler = async (event: Event): Promise<void> => {
    await readFile(String(event));
  };
}

export const parse = <T,>(text: string): Jar<T> => {
  const inner = () => JSON.parse(text);
  return inner();
};

export const DEFAULTS = { limit: 12, sort: (a: number, b: number) => a - b } as const;

export default class extends Shelf<string> {
  price() {
    return 1;
  }
}

declare function sealed(target: unknown): void;
declare const logged: any;
interface Scale {}
