import type { EventEmitter } from 'node:events';
import type { Readable, Writable } from 'node:stream';

/** Options of multer 2.5 that its types don't have yet. */
declare module 'multer' {
  interface Options {
    /** Charset of text fields that state none. */
    defCharset?: string;
    /** Feeds the request to the parser. */
    streamHandler?: (req: Readable, parser: Writable & EventEmitter) => void;
  }
}
