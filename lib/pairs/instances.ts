import { get, isObject, isPlain, tryRead } from '../untrusted.js'

type Class = new (fields: object) => object

/**
 * Makes messages of a history whose messages are instances, as those of LangChain are: its
 * functions call methods of messages. The class is that of a message of the same type in the
 * history. Without one it is made from the base of the classes there, which tell each other apart
 * by `type`.
 */
export class Instances {
  private readonly classes = new Map<string, Class>()

  constructor(private readonly history: readonly unknown[]) {}

  /** Returns a new message as an instance, if the message at `at`, to which it belongs, is one. */
  of(made: object, at: number): object {
    const like = this.history[at]
    const { type, ...fields } = made as Record<string, unknown>
    if (!isInstance(like) || typeof type !== 'string') return made
    const message = tryRead(() => new (this.classFor(type, like))(fields))
    return message && get(message, 'type') === type ? message : made
  }

  private classFor(type: string, like: object): Class {
    const same = (message: unknown): message is object => isInstance(message) && get(message, 'type') === type
    const known = this.classes.get(type)
    const found = known ?? classOf(this.history.find(same)) ?? derived(classOf(like), type)
    this.classes.set(type, found)
    return found
  }
}

function isInstance(message: unknown): message is object {
  return isObject(message) && !isPlain(message)
}

function classOf(message: object | undefined): Class | undefined {
  return message && (get(Object.getPrototypeOf(message), 'constructor') as Class)
}

/** Makes a class of messages of another type beside a class of messages. */
function derived(sibling: Class | undefined, type: string): Class {
  const Base = Object.getPrototypeOf(sibling) as Class
  const name = `${type.slice(0, 1).toUpperCase()}${type.slice(1)}Message`
  return class extends Base {
    static lc_name(): string {
      return name
    }

    constructor(fields: object) {
      super(fields)
      Object.assign(this, fields, { type })
    }
  }
}
