import { describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/model/finding.js';
import { mergeConditions } from '../../../src/status/conditions.js';

function messageOf(text: string): string | undefined {
  const finding: Finding = {
    code: 'WG4001',
    severity: 'error',
    object: { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'web' },
    subject: { kind: 'object' },
    condition: { type: 'Accepted', status: 'False', reason: 'Invalid' },
    message: text,
    hint: '',
    path: '',
    span: { file: 'a.yaml', line: 1, column: 1 },
  };
  return mergeConditions([], [finding], 1)[0]?.message;
}

describe('messages of conditions', () => {
  it('hold no half of a character, whoever wrote it', () => {
    expect(messageOf('names \ud800, which does not exist')).toBe('names \ufffd, which does not exist');
  });

  it('are cut to what the API takes, between characters', () => {
    const message = messageOf(`x${'\u{1f600}'.repeat(20_000)}`) ?? '';
    expect(message).toHaveLength(32_768);
    expect(message.endsWith('\u{1f600}\ufffd')).toBe(true);
  });
});
