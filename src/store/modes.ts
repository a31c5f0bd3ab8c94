import type { Rooms } from './store.ts'

/** Whether a method reads or writes: a full store can still be read. */
export type Mode = 'reads' | 'writes'

/** A method that does not create a missing store, and its result in that case. */
interface ModeOfLookup<Answer> {
  readonly mode: Mode
  readonly withoutStore: Answer
}

type AnswerOf<Method> = Method extends (...given: never[]) => Promise<infer Answer> ? Answer : never

/** The mode of each method of a repository. */
export type Modes<Room> = { readonly [Name in keyof Room]: Mode | ModeOfLookup<AnswerOf<Room[Name]>> }

/** The modes of all repositories. A method without a mode does not compile. */
export const MODES: { readonly [Name in keyof Rooms]: Modes<Rooms[Name]> } = {
  turns: {
    find: 'reads',
    chain: 'reads',
    items: 'reads',
    barred: 'reads',
    keep: 'writes',
    advance: 'writes',
    unfinished: 'reads',
    renew: 'writes',
    drop: 'writes',
  },
  conversations: {
    find: 'reads',
    barred: 'reads',
    items: 'reads',
    create: 'writes',
    describe: 'writes',
    add: 'writes',
    dropItem: 'writes',
    drop: 'writes',
  },
  events: { from: 'reads', count: 'reads', add: 'writes', drop: 'writes' },
  tasks: {
    begin: 'writes',
    move: 'writes',
    find: 'reads',
    findByKey: 'reads',
    list: 'reads',
    advance: 'writes',
    claim: 'writes',
    miss: 'writes',
    due: 'reads',
    submitting: 'reads',
    unkept: 'reads',
    withFiles: 'reads',
    keepFile: 'writes',
    leaveFile: 'writes',
    drop: 'writes',
  },
  processes: { beat: 'writes', isAlive: 'reads', end: 'writes' },
  access: {
    changes: 'reads',
    createKey: 'writes',
    key: 'reads',
    keyNamed: 'reads',
    keys: 'reads',
    changeKey: 'writes',
    revokeKey: 'writes',
    rotateKey: 'writes',
    used: 'writes',
    groups: 'reads',
    keepGroup: 'writes',
    changeGroup: 'writes',
    dropGroup: 'writes',
    drain: 'writes',
    addToken: 'writes',
    tokens: 'reads',
    token: 'reads',
    dropToken: 'writes',
  },
  console: {
    users: { mode: 'reads', withoutStore: [] },
    user: { mode: 'reads', withoutStore: undefined },
    userOf: { mode: 'reads', withoutStore: undefined },
    addUser: 'writes',
    changeUser: 'writes',
    setRole: 'writes',
    dropUser: 'writes',
    openSession: 'writes',
    session: { mode: 'reads', withoutStore: undefined },
    sessionUsed: 'writes',
    endSession: 'writes',
    endSessions: 'writes',
    attempt: { mode: 'writes', withoutStore: undefined },
    forgive: 'writes',
    unlock: 'writes',
    sweep: 'writes',
  },
  usage: { add: 'writes', sums: 'reads', rows: 'reads', row: 'reads', spent: 'reads', sweep: 'writes' },
  shared: {
    secret: { mode: 'reads', withoutStore: undefined },
    keepSecret: 'writes',
    keepPicture: 'writes',
    picture: { mode: 'reads', withoutStore: undefined },
    keepNote: 'writes',
    note: { mode: 'reads', withoutStore: undefined },
    takeNote: { mode: 'writes', withoutStore: undefined },
    changeThoughts: 'writes',
    thoughts: { mode: 'reads', withoutStore: [] },
    sweep: 'writes',
  },
  captures: {
    add: 'writes',
    find: { mode: 'reads', withoutStore: undefined },
    known: { mode: 'reads', withoutStore: new Set() },
    list: { mode: 'reads', withoutStore: { found: [], more: false } },
    drop: { mode: 'writes', withoutStore: false },
    sweep: 'writes',
  },
}
