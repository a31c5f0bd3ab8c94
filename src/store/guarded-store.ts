import type { AccessRecords } from './access-records.ts'
import type { Captures } from './captures.ts'
import type { ConsoleRecords } from './console-records.ts'
import type { Conversations } from './conversations.ts'
import type { Events } from './events.ts'
import type { Processes } from './processes.ts'
import type { SharedRecords } from './shared-records.ts'
import type { Tasks } from './tasks.ts'
import type { Turns } from './turns.ts'
import type { UsageRecords } from './usage-records.ts'

/** What is done to a store: one that is full can still be read. */
export type AccessMode = 'reads' | 'writes'

/** Does something to a room of the store, whatever state the store is in. */
type Use<Room> = <T>(manner: AccessMode, work: (room: Room) => Promise<T>) => Promise<T>

/** Turns whose access is guarded by the state of the store. */
export const guardedTurns = (use: Use<Turns>): Turns => ({
  find: (owner, id) => use('reads', turns => turns.find(owner, id)),
  chain: (owner, id) => use('reads', turns => turns.chain(owner, id)),
  items: (owner, ids) => use('reads', turns => turns.items(owner, ids)),
  barred: (owner, ids) => use('reads', turns => turns.barred(owner, ids)),
  keep: turn => use('writes', turns => turns.keep(turn)),
  advance: turn => use('writes', turns => turns.advance(turn)),
  unfinished: ids => use('reads', turns => turns.unfinished(ids)),
  renew: (owner, id, lease) => use('writes', turns => turns.renew(owner, id, lease)),
  drop: (owner, id) => use('writes', turns => turns.drop(owner, id)),
})

/** Conversations, likewise. */
export const guardedConversations = (use: Use<Conversations>): Conversations => ({
  find: (owner, id) => use('reads', conversations => conversations.find(owner, id)),
  barred: (owner, id) => use('reads', conversations => conversations.barred(owner, id)),
  items: (owner, id) => use('reads', conversations => conversations.items(owner, id)),
  create: (conversation, items) => use('writes', conversations => conversations.create(conversation, items)),
  describe: (owner, id, metadata) => use('writes', conversations => conversations.describe(owner, id, metadata)),
  add: (owner, id, items, expiresAt) => use('writes', conversations => conversations.add(owner, id, items, expiresAt)),
  dropItem: (owner, id, item) => use('writes', conversations => conversations.dropItem(owner, id, item)),
  drop: (owner, id) => use('writes', conversations => conversations.drop(owner, id)),
})

/** Events of responses in the making, likewise. */
export const guardedEvents = (use: Use<Events>): Events => ({
  from: (owner, id, number) => use('reads', events => events.from(owner, id, number)),
  count: (owner, id) => use('reads', events => events.count(owner, id)),
  add: (owner, id, first, texts) => use('writes', events => events.add(owner, id, first, texts)),
  drop: (owner, id) => use('writes', events => events.drop(owner, id)),
})

/** Tasks, likewise. */
export const guardedTasks = (use: Use<Tasks>): Tasks => ({
  begin: task => use('writes', tasks => tasks.begin(task)),
  move: (owner, id, place) => use('writes', tasks => tasks.move(owner, id, place)),
  find: (owner, id) => use('reads', tasks => tasks.find(owner, id)),
  findByKey: (owner, key) => use('reads', tasks => tasks.findByKey(owner, key)),
  list: (owner, page) => use('reads', tasks => tasks.list(owner, page)),
  advance: (owner, id, news) => use('writes', tasks => tasks.advance(owner, id, news)),
  claim: (owner, id, now, before) => use('writes', tasks => tasks.claim(owner, id, now, before)),
  miss: (owner, id) => use('writes', tasks => tasks.miss(owner, id)),
  due: (before, limit, channels) => use('reads', tasks => tasks.due(before, limit, channels)),
  submitting: () => use('reads', tasks => tasks.submitting()),
  unkept: (since, limit) => use('reads', tasks => tasks.unkept(since, limit)),
  withFiles: () => use('reads', tasks => tasks.withFiles()),
  keepFile: (owner, id, size) => use('writes', tasks => tasks.keepFile(owner, id, size)),
  leaveFile: (owner, id) => use('writes', tasks => tasks.leaveFile(owner, id)),
  drop: (owner, id) => use('writes', tasks => tasks.drop(owner, id)),
})

/**
 * What instances share, likewise.
 *
 * @param exists whether there is a store already: nothing is found in one that is not, and looking makes none.
 */
export function guardedShared(use: Use<SharedRecords>, exists: () => boolean): SharedRecords {
  const read = async <T>(work: (shared: SharedRecords) => Promise<T>, nothing: T): Promise<T> =>
    exists() ? use('reads', work) : nothing
  return {
    secret: name => read(shared => shared.secret(name), undefined),
    keepSecret: (name, fresh) => use('writes', shared => shared.keepSecret(name, fresh)),
    keepPicture: (picture, limits) => use('writes', shared => shared.keepPicture(picture, limits)),
    picture: id => read(shared => shared.picture(id), undefined),
    keepNote: (note, limits) => use('writes', shared => shared.keepNote(note, limits)),
    note: (kind, name) => read(shared => shared.note(kind, name), undefined),
    takeNote: async (kind, name) => (exists() ? use('writes', shared => shared.takeNote(kind, name)) : undefined),
    changeThoughts: changes => use('writes', shared => shared.changeThoughts(changes)),
    thoughts: names => read(shared => shared.thoughts(names), []),
    sweep: () => use('writes', shared => shared.sweep()),
  }
}

/** Captured requests, likewise; looking makes no store where there is none. */
export const guardedCaptures = (use: Use<Captures>, exists: () => boolean): Captures => ({
  add: (all, limit) => use('writes', captures => captures.add(all, limit)),
  find: async id => (exists() ? use('reads', captures => captures.find(id)) : undefined),
  known: async ids => (exists() ? use('reads', captures => captures.known(ids)) : new Set()),
  list: async page => (exists() ? use('reads', captures => captures.list(page)) : { ids: [] }),
  drop: async id => (exists() ? use('writes', captures => captures.drop(id)) : false),
  sweep: () => use('writes', captures => captures.sweep()),
})

/** Processes, likewise. */
export const guardedProcesses = (use: Use<Processes>): Processes => ({
  beat: id => use('writes', processes => processes.beat(id)),
  isAlive: id => use('reads', processes => processes.isAlive(id)),
  end: id => use('writes', processes => processes.end(id)),
})

/** Keys, groups and what else administrators change, likewise. */
export const guardedAccess = (use: Use<AccessRecords>): AccessRecords => ({
  changes: since => use('reads', access => access.changes(since)),
  createKey: key => use('writes', access => access.createKey(key)),
  key: id => use('reads', access => access.key(id)),
  keyNamed: name => use('reads', access => access.keyNamed(name)),
  keys: page => use('reads', access => access.keys(page)),
  changeKey: (id, change) => use('writes', access => access.changeKey(id, change)),
  revokeKey: (id, at) => use('writes', access => access.revokeKey(id, at)),
  rotateKey: (id, secret, othersUntil) => use('writes', access => access.rotateKey(id, secret, othersUntil)),
  used: at => use('writes', access => access.used(at)),
  groups: () => use('reads', access => access.groups()),
  keepGroup: group => use('writes', access => access.keepGroup(group)),
  changeGroup: (name, change) => use('writes', access => access.changeGroup(name, change)),
  dropGroup: name => use('writes', access => access.dropGroup(name)),
  drain: (channel, drained) => use('writes', access => access.drain(channel, drained)),
  addToken: token => use('writes', access => access.addToken(token)),
  tokens: () => use('reads', access => access.tokens()),
  token: hash => use('reads', access => access.token(hash)),
  dropToken: (id, isForced) => use('writes', access => access.dropToken(id, isForced)),
})

/**
 * Users of the console, likewise.
 *
 * @param exists whether there is a store already: nobody is found in one that is not, and looking makes none.
 */
export function guardedConsole(use: Use<ConsoleRecords>, exists: () => boolean): ConsoleRecords {
  const read = async <T>(work: (users: ConsoleRecords) => Promise<T>, nothing: T): Promise<T> =>
    exists() ? use('reads', work) : nothing
  return {
    users: () => read(users => users.users(), []),
    user: name => read(users => users.user(name), undefined),
    userOf: subject => read(users => users.userOf(subject), undefined),
    addUser: (user, isFirst) => use('writes', users => users.addUser(user, isFirst)),
    changeUser: (name, change, except) => use('writes', users => users.changeUser(name, change, except)),
    setRole: (name, role) => use('writes', users => users.setRole(name, role)),
    dropUser: name => use('writes', users => users.dropUser(name)),
    openSession: (session, password, most) => use('writes', users => users.openSession(session, password, most)),
    session: hash => read(users => users.session(hash), undefined),
    sessionUsed: (hash, at) => use('writes', users => users.sessionUsed(hash, at)),
    endSession: hash => use('writes', users => users.endSession(hash)),
    endSessions: user => use('writes', users => users.endSessions(user)),
    attempt: async (subject, rules) => (exists() ? use('writes', users => users.attempt(subject, rules)) : undefined),
    forgive: subject => use('writes', users => users.forgive(subject)),
    sweep: () => use('writes', users => users.sweep()),
  }
}

/** Usage, likewise. */
export const guardedUsage = (use: Use<UsageRecords>): UsageRecords => ({
  add: rows => use('writes', usage => usage.add(rows)),
  sums: query => use('reads', usage => usage.sums(query)),
  rows: page => use('reads', usage => usage.rows(page)),
  row: id => use('reads', usage => usage.row(id)),
  spent: (key, at) => use('reads', usage => usage.spent(key, at)),
  sweep: before => use('writes', usage => usage.sweep(before)),
})
