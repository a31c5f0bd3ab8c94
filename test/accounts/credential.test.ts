import { describe, expect, it } from 'vitest'
import { credentialOf } from '../../src/accounts/key-ring.ts'

describe('where a key is looked for', () => {
  it.each([
    ['bearer', { authorization: 'Bearer k1' }, undefined, 'k1'],
    ['bearer in small letters', { authorization: 'bearer  k1 ' }, undefined, 'k1'],
    ['x-api-key', { 'x-api-key': 'k2' }, undefined, 'k2'],
    ['x-goog-api-key', { 'x-goog-api-key': 'k3' }, undefined, 'k3'],
    ['the query', {}, 'k4', 'k4'],
    ['the realtime subprotocol', { 'sec-websocket-protocol': 'realtime, openai-insecure-api-key.k5' }, undefined, 'k5'],
    ['the subprotocol of xAI', { 'sec-websocket-protocol': 'xai-client-secret.k6' }, undefined, 'k6'],
    ['bearer before all others', { authorization: 'Bearer k1', 'x-api-key': 'k2' }, 'k4', 'k1'],
    ['x-api-key before the query', { 'x-api-key': 'k2', 'x-goog-api-key': 'k3' }, 'k4', 'k2'],
    ['another scheme is passed over', { authorization: 'Basic abc', 'x-goog-api-key': 'k3' }, undefined, 'k3'],
    ['an empty bearer is passed over', { authorization: 'Bearer ', 'x-api-key': 'k2' }, undefined, 'k2'],
    ['nowhere', { authorization: 'k1' }, undefined, undefined],
  ])('%s', (_, headers, queryKey, expected) => {
    expect(credentialOf({ headers, ...(queryKey === undefined ? {} : { queryKey }) })).toBe(expected)
  })
})
