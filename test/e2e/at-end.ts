/** Ends what a test started: with the test, or with the file when it was started in a `beforeAll`. */
import { afterAll, onTestFinished } from 'vitest';

const ends: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Calls `end` when the running test is over; outside of a test, when all tests of the file are. */
export function atEnd(end: () => Promise<void>): void {
  try {
    onTestFinished(end);
  } catch {
    // vitest refuses it outside of a test, that is in a hook of the file.
    ends.push(end);
  }
}
