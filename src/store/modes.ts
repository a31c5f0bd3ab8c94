import type { Repositories } from './store.ts'

/** The access mode of a method. A full store can still be read. */
export type Mode = 'reads' | 'writes'

/** The mode of a method that does not create a missing store, and its result in that case. */
interface ModeOfLookup<Answer> {
  readonly mode: Mode
  readonly withoutStore: Answer
}

type AnswerOf<Method> = Method extends (...given: never[]) => Promise<infer Answer> ? Answer : never

/** The mode of each method of a repository. */
export type Modes<Repository> = { readonly [Name in keyof Repository]: Mode | ModeOfLookup<AnswerOf<Repository[Name]>> }

/** The modes of all repositories. A method without a mode does not compile. */
export const MODES: { readonly [Name in keyof Repositories]: Modes<Repositories[Name]> } = {
  turns: {
    find: 'reads',
    chain: 'reads',
    items: 'reads',
    isForbidden: 'reads',
    put: 'writes',
    advance: 'writes',
    unfinished: 'reads',
    renew: 'writes',
    drop: 'writes',
  },
  conversations: {
    find: 'reads',
    isForbidden: 'reads',
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
    withoutVideo: 'reads',
    withFiles: 'reads',
    setFileSize: 'writes',
    skipFile: 'writes',
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
    recordUses: 'writes',
    groups: 'reads',
    putGroup: 'writes',
    changeGroup: 'writes',
    dropGroup: 'writes',
    drain: 'writes',
    addToken: 'writes',
    tokens: 'reads',
    token: 'reads',
    dropToken: 'writes',
  },
  config: {
    entries: { mode: 'reads', withoutStore: [] },
    changeEntry: 'writes',
    dropEntry: { mode: 'writes', withoutStore: false },
    encryptAgain: { mode: 'writes', withoutStore: 0 },
  },
  console: {
    users: { mode: 'reads', withoutStore: [] },
    user: { mode: 'reads', withoutStore: undefined },
    userOf: { mode: 'reads', withoutStore: undefined },
    addUser: 'writes',
    changeUser: 'writes',
    setRole: 'writes',
    dropUser: 'writes',
    openSignInSession: 'writes',
    signInSession: { mode: 'reads', withoutStore: undefined },
    touchSignInSession: 'writes',
    endSignInSession: 'writes',
    endSignInSessions: 'writes',
    attempt: { mode: 'writes', withoutStore: undefined },
    forgive: 'writes',
    unlock: 'writes',
    sweep: 'writes',
  },
  usage: {
    add: 'writes',
    sums: 'reads',
    rows: 'reads',
    row: 'reads',
    failures: 'reads',
    spent: 'reads',
    spentByKey: 'reads',
    sweep: { mode: 'writes', withoutStore: undefined },
  },
  shared: {
    secret: { mode: 'reads', withoutStore: undefined },
    createSecret: 'writes',
    putImage: 'writes',
    image: { mode: 'reads', withoutStore: undefined },
    addNote: 'writes',
    note: { mode: 'reads', withoutStore: undefined },
    takeNote: { mode: 'writes', withoutStore: undefined },
    changeReasoning: 'writes',
    reasoning: { mode: 'reads', withoutStore: [] },
    putSignatures: 'writes',
    signatures: { mode: 'reads', withoutStore: new Map() },
    hasSignatures: { mode: 'reads', withoutStore: false },
    sweep: 'writes',
  },
  audit: { add: 'writes', list: 'reads' },
  captures: {
    add: 'writes',
    find: { mode: 'reads', withoutStore: undefined },
    existing: { mode: 'reads', withoutStore: new Set() },
    list: { mode: 'reads', withoutStore: { found: [], more: false } },
    drop: { mode: 'writes', withoutStore: false },
    sweep: 'writes',
  },
}
