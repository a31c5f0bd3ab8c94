import { sha256 as hash } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/** Returns the SHA-256 of a UTF-8 text in hexadecimal. Works without Node. For short texts, it is as fast as Node's. */
export const sha256 = (text: string): string => bytesToHex(hash(utf8ToBytes(text)))
