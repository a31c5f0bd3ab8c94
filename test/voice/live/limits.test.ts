import { describe, expect, test } from 'vitest'
import {
  audio,
  CREATE,
  calls,
  GO_AWAY,
  Machine,
  type MachineOptions,
  result,
  resumable,
  SETUP_COMPLETE,
  spoken,
  TURN_COMPLETE,
  userText,
} from './machine.ts'

/* Limits of what a session stores of the client's input. */

const MEBIBYTE = 'x'.repeat(2 ** 20)

const ready = (options?: MachineOptions): Machine =>
  new Machine(options).client({ type: 'session-update', settings: {} }).server(SETUP_COMPLETE)

/** Makes a call, answers it with one mebibyte and deletes the item of the result. */
function answerAndDelete(machine: Machine, id: string, between: () => void): void {
  machine.server(calls({ id, name: 'read_file', args: {} })).client(result(id, MEBIBYTE))
  between()
  const item = machine.of('item-added').at(-1)?.item.id ?? ''
  machine.client({ type: 'item-delete', item })
}

describe('the size of a function result', () => {
  test('is released with its item once it was sent', () => {
    const machine = ready()
    for (let turn = 0; turn < 20; turn++) answerAndDelete(machine, `call_${turn}`, () => machine.client(CREATE))
    expect(machine.end).toBeUndefined()
    expect(machine.of('item-deleted')).toHaveLength(20)
  })

  test('counts while the result waits for a response, even if its item is deleted', () => {
    const machine = ready()
    for (let turn = 0; turn < 20; turn++) answerAndDelete(machine, `call_${turn}`, () => {})
    expect(machine.of('error')[0]?.error.code).toBe('conversation_too_large')
    expect(machine.of('item-deleted').length).toBeLessThan(10)
  })

  test('is released when the upstream cancels the call', () => {
    const machine = ready()
    for (let turn = 0; turn < 20; turn++)
      answerAndDelete(machine, `call_${turn}`, () =>
        machine.server({ toolCallCancellation: { ids: [`call_${turn}`] } }),
      )
    expect(machine.end).toBeUndefined()
  })
})

describe('too much input', () => {
  test('ends the session while the upstream is not ready', () => {
    const machine = new Machine().client({ type: 'session-update', settings: {} })
    for (let sent = 0; sent < 10; sent++) machine.client(userText(MEBIBYTE))
    expect(machine.end?.error?.error.code).toBe('session_not_ready')
  })

  test('of items is refused by a ready session until items are deleted', () => {
    const machine = ready()
    for (let sent = 0; sent < 10; sent++) machine.client({ ...userText(MEBIBYTE), id: `event_${sent}` })
    const added = machine.of('item-added').map(({ item }) => item.id!)
    const refused = machine.of('error')
    expect(refused).toHaveLength(10 - added.length)
    expect(refused[0]).toMatchObject({
      ...{ error: { code: 'conversation_too_large' }, event: `event_${added.length}` },
    })
    machine.client({ type: 'item-delete', item: added[0]! }, userText(MEBIBYTE))
    expect(machine.of('item-added')).toHaveLength(added.length + 1)
    expect(machine.end).toBeUndefined()
  })

  test('of audio during a response ends the session with that reason', () => {
    const machine = ready({ settings: { input: { turnDetection: null } } })
    machine.client(userText('Hello'), CREATE)
    for (let sent = 0; sent < 10; sent++) machine.client(audio(2 ** 20))
    expect(machine.end?.reason).toBe('too much was sent during a response')
  })
})

describe('a message of function calls', () => {
  test.each([{}, { functionCalls: [] }])('that is empty changes nothing: %j', toolCall => {
    const machine = ready().server({ toolCall })
    expect(machine.of('error')).toEqual([])
  })

  test.each([{ functionCalls: [{}] }, { functionCalls: [null] }, { functionCalls: 'f' }])(
    'that has one without a name is an error: %j',
    toolCall => {
      const machine = ready().server({ toolCall })
      expect(machine.of('error')).toHaveLength(1)
    },
  )
})

test('ids of items, and addresses of their images, count towards the size of a conversation', () => {
  const content = [{ type: 'media', kind: 'image', source: { type: 'url', url: MEBIBYTE } }] as const
  for (const item of [{ id: MEBIBYTE, content: [] }, { content }]) {
    const machine = ready()
    for (let sent = 0; sent < 20; sent++)
      machine.client({
        type: 'item-create',
        item: { role: 'user', ...item, ...('id' in item && { id: sent + item.id }) },
      })
    expect(machine.of('item-added').length).toBeLessThan(10)
    expect(machine.of('error')[0]?.error.code).toBe('conversation_too_large')
  }
})

describe('an upstream that announces the end of each new connection at once', () => {
  const leave = (machine: Machine): void => {
    machine.server(SETUP_COMPLETE, resumable('handle'), GO_AWAY)
    if (machine.moving) machine.open()
  }

  test('gets a few further connections, and not one after the other', () => {
    const machine = ready().client(userText('Hi'))
    for (let times = 0; times < 50; times++) leave(machine)
    expect(machine.sent.length).toBeLessThanOrEqual(4)
    expect(machine.end).toBeUndefined()
  })

  test('gets further ones once it has answered', () => {
    const machine = ready().client(userText('Hi'))
    for (let times = 0; times < 6; times++) {
      leave(machine)
      machine.client(CREATE).server(spoken(10), TURN_COMPLETE)
    }
    expect(machine.sent.length).toBeGreaterThan(5)
  })
})

describe('what the upstream creates', () => {
  const sizeOfStored = (machine: Machine): number =>
    machine
      .of('output-start')
      .map(({ item }) => machine.client({ type: 'item-retrieve', item: item.id! }))
      .flatMap(one => one.of('item-retrieved').slice(-1))
      .reduce((sum, { item }) => sum + JSON.stringify(item).length, 0)

  test('is not stored without limit: arguments of calls', () => {
    const machine = ready()
    for (let turn = 0; turn < 60; turn++) {
      const args = { text: MEBIBYTE.slice(0, 200_000) }
      machine.server(calls({ id: `call_${turn}`, name: 'write', args })).client(result(`call_${turn}`, 'ok'), CREATE)
    }
    const told = machine.of('arguments-delta')
    expect(told).toHaveLength(60)
    expect(told.every(({ text }) => text.length > 200_000)).toBe(true)
    expect(sizeOfStored(machine)).toBeLessThan(9 * 2 ** 20)
  })

  test('is not stored without limit: names of calls', () => {
    const machine = ready()
    for (let turn = 0; turn < 60; turn++)
      machine
        .server(calls({ id: `call_${turn}`, name: MEBIBYTE.slice(0, 200_000), args: {} }))
        .client(result(`call_${turn}`, 'ok'), CREATE)
    expect(machine.of('output-start')).toHaveLength(60)
    const known = machine.of('output-start').filter(({ item }) => {
      const before = machine.of('item-retrieved').length
      machine.client({ type: 'item-retrieve', item: item.id! })
      return machine.of('item-retrieved').length > before
    })
    expect(known.length).toBeLessThan(45)
  })
})
