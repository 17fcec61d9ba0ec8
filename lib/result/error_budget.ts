import { types } from 'node:util'
import { type EnginePolicy, shortened } from '../compiled.js'
import { GONE } from '../dialect/shallow_copy.js'
import { capSide, shrunk } from '../dialect/side_data.js'
import { plain } from '../json.js'
import { get } from '../untrusted.js'
import { clampString } from './clamp_slots.js'
import {
  AROUND,
  DEPTH,
  dataOf,
  errorHead,
  isData,
  isError,
  listed,
  type Member,
  membersOf,
  Scale,
  TIMES,
} from './error_members.js'
import { shortHead } from './error_stack.js'
import { type Changes, change, described, rebuilt } from './rebuild_error.js'

/** Depth to which errors are measured. */
const DEEPEST = 100
/** Most attempts, each with half the room, if a value takes more in words than in JSON. */
const TRIES = 8
/** Least room for a value, and for one error of several. */
const LEAST = 64
const LEAST_EACH = 256

/** One budget for everything that was thrown. The largest parts are shortened. */
export class ErrorBudget {
  readonly #scale: Scale
  readonly #room: number
  readonly #members: Map<object, Member[]>
  /** Replacements of errors that were shortened. */
  #stands = new Map<object, object>()
  /** Weight of JSON compared with shown text. Frameworks send the JSON of values other than
   *  errors. */
  #times = 1

  /** `members`: members of errors that were read before. */
  constructor(
    readonly policy: EnginePolicy,
    members: Map<object, Member[]>,
  ) {
    this.#scale = new Scale(policy)
    this.#room = this.#scale.cap * TIMES
    this.#members = members
  }

  /** Returns the value itself if it fits. An object of a class is changed in place, data is
   *  copied. */
  bounded(thrown: unknown): unknown {
    if (this.#scale.cap === Number.POSITIVE_INFINITY) return thrown
    return isData(thrown) ? this.#data(thrown) : this.#object(thrown as object)
  }

  #data(data: unknown): unknown {
    const { cap } = this.#scale
    const json = this.#scale.json(data)
    const fits = (value: unknown, json: number) => json <= cap && this.#scale.isBrief(value, TIMES)
    if (fits(data, json.size)) return data
    for (let room = cap; room >= 1; room = Math.floor(room / 2)) {
      const part = capSide(dataOf(data, json), room)
      if (part !== undefined && fits(part, this.#scale.size(JSON.stringify(part)))) return part
    }
    return ''
  }

  #object(thrown: object): unknown {
    this.#times = types.isNativeError(thrown) ? 1 : TIMES
    if (this.#costOf(thrown) <= this.#room && this.#scale.isBrief(thrown, this.#times)) return thrown
    for (let tries = 0; tries < TRIES; tries++) {
      this.#stands = new Map()
      const made = this.#filled(thrown, this.#room / 2 ** tries, 0)
      if (this.#scale.isBrief(made, this.#times)) return made
    }
    return isError(thrown) ? this.#bare(thrown) : this.#data(plain(thrown))
  }

  #membersOf(error: object): Member[] {
    const known = this.#members.get(error)
    if (known) return known
    const members = membersOf(error)
    this.#members.set(error, members)
    return members
  }

  /** Returns the cost of an object in words, including its members. */
  #costOf(error: object, above: readonly object[] = []): number {
    if (above.includes(error)) return AROUND
    if (above.length >= DEEPEST) return Number.POSITIVE_INFINITY
    const within = [...above, error]
    return this.#membersOf(error).reduce((sum, one) => sum + this.#cost(one, within), this.#head(error))
  }

  #cost(member: Member, above: readonly object[]): number {
    member.cost ??= this.#key(member) + this.#valueCost(member, above)
    return member.cost
  }

  #key({ key }: Member): number {
    const json = typeof key === 'string' ? this.#scale.size(JSON.stringify(key)) * this.#times : 0
    return AROUND + Math.max(json, this.#scale.size(String(key)))
  }

  #valueCost(member: Pick<Member, 'value' | 'json'>, above: readonly object[]): number {
    const { value } = member
    if (isError(value)) return Math.max(this.#costOf(value, above), this.#scale.own(value) * this.#times)
    const elements = listed(value)
    if (elements?.some(isError)) {
      const costs = elements.map((one) => this.#valueCost({ value: one }, above))
      return costs.reduce((sum, cost) => sum + AROUND + cost, AROUND)
    }
    member.json = this.#scale.json(value)
    const json = member.json.size * this.#times
    return json > this.#room ? json : Math.max(json, this.#scale.shown(value, 1))
  }

  /** Returns the cost of an error's name, message and stack. */
  #head(error: object): number {
    const texts = errorHead(error).map((key) => [key, get(error, key)] as const)
    const [message = 0, stack = 0, name = 0] = texts.map(([, text]) =>
      typeof text === 'string' ? this.#scale.size(text) : 0,
    )
    const listed = texts.filter(([key]) => described(error, key)?.enumerable)
    const json = JSON.stringify(Object.fromEntries(listed.filter(([, text]) => typeof text === 'string')))
    return AROUND + Math.max(this.#scale.size(json) * this.#times, stack, message + name)
  }

  /** Shortens an error to `room`: its message and stack first, then its members in fair shares. */
  #filled(error: object, room: number, depth: number): object {
    const known = this.#stands.get(error)
    if (known) return known
    const members = this.#membersOf(error)
    const own = this.#emptied(this.#headed(error, room), members)
    // Its members may lead back to it.
    this.#stands.set(error, own)
    const costs = members.map((member) => this.#cost(member, [error]))
    const rooms = fairShares(costs, room - this.#head(own))
    const changes: Changes = {}
    for (const [at, member] of members.entries()) {
      const [cost = 0, room = 0] = [costs[at], rooms[at]]
      if (room < cost) changes[member.key] = this.#part(member, room - this.#key(member), depth) ?? GONE
      else if (own !== error) changes[member.key] = member.value
    }
    return change(own, changes)
  }

  /** Shortens an error's message and stack to most of its room. */
  #headed(error: object, room: number): object {
    let own = error
    for (
      let chars = Math.floor(room / TIMES);
      this.#head(own) > (room * 3) / 4 && chars > 0;
      chars = Math.floor(chars / 2)
    ) {
      const policy = shortened(this.policy, chars)
      const message = get(own, 'message')
      if (typeof message !== 'string') break
      own = change(
        own,
        shortHead(own, message, policy, (text) => clampString(text, policy)),
      )
    }
    return own
  }

  /** Returns the error itself, or if a member cannot be replaced, a new error whose members have no
   *  value yet. */
  #emptied(error: object, members: readonly Member[]): object {
    const isFixed = members.some(({ key }) => described(error, key)?.configurable === false)
    return isFixed ? rebuilt(error, Object.fromEntries(members.map(({ key }) => [key, undefined]))) : error
  }

  /** Returns a part of a value within `room`, undefined if it would show nothing. */
  #part({ value, json }: Pick<Member, 'value' | 'json'>, room: number, depth: number): unknown {
    if (room < LEAST || typeof value === 'function') return undefined
    const elements = listed(value)
    const error = depth < DEPTH && isError(value) ? this.#filled(value, room, depth + 1) : undefined
    if (error && this.#scale.own(error) * this.#times <= room) return error
    if (depth < DEPTH && elements?.some(isError)) return this.#list(elements, room, depth)
    return shrunk(dataOf(value, json ?? this.#scale.json(value)), Math.floor(room / this.#times))
  }

  /** Returns the first of several errors, as many as have room. */
  #list(elements: readonly unknown[], room: number, depth: number): unknown[] {
    const first = elements.slice(0, Math.floor(room / LEAST_EACH))
    const more = elements.length - first.length
    const note = more > 0 ? [`[... ${more} more items]`] : []
    const costs = first.map((value) => AROUND + this.#valueCost({ value }, []))
    const rooms = fairShares(costs, room - LEAST * note.length)
    const parts = first.map((value, at) => {
      const [cost = 0, room = 0] = [costs[at], rooms[at]]
      return room < cost ? this.#part({ value }, room - AROUND, depth) : value
    })
    return [...parts.filter((part) => part !== undefined), ...note]
  }

  /** Makes a plain error in place of one whose class takes too many words. */
  #bare(error: object): object {
    const fresh = Object.assign(new Error(), { stack: '' })
    const told = ['name', 'message', 'stack', 'code'].map((key) => [key, get(error, key)] as const)
    const brief = told.filter(
      ([key, value]) => typeof value === 'string' && (key !== 'code' || value.length <= LEAST),
    )
    return this.#headed(change(fresh, Object.fromEntries(brief)), this.#room / 2)
  }
}

/** Divides room among costs, smallest first. The rest of their shares goes to the larger ones. */
function fairShares(costs: readonly number[], room: number): number[] {
  const given = costs.map(() => 0)
  const order = [...costs.keys()].sort((a, b) => (costs[a] ?? 0) - (costs[b] ?? 0))
  let left = Math.max(0, room)
  for (const [at, index] of order.entries()) {
    const cost = costs[index] ?? 0
    const share = Math.min(cost, left / (order.length - at))
    // A share that would show nothing is left to the others.
    if (share < Math.min(cost, LEAST)) continue
    given[index] = share
    left -= share
  }
  return given
}
