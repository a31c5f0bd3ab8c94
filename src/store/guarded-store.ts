import type { Conversations } from './conversations.ts'
import type { Events } from './events.ts'
import type { Processes } from './processes.ts'
import type { SharedRecords } from './shared-records.ts'
import type { Tasks } from './tasks.ts'
import type { Turns } from './turns.ts'

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

/** Processes, likewise. */
export const guardedProcesses = (use: Use<Processes>): Processes => ({
  beat: id => use('writes', processes => processes.beat(id)),
  isAlive: id => use('reads', processes => processes.isAlive(id)),
  end: id => use('writes', processes => processes.end(id)),
})
