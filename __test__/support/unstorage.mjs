export { createStorage } from 'unstorage'
export { default as fsDriver } from 'unstorage/drivers/fs'
