/**
 * The double's player. Like the site's own, it is one function over one object with the two
 * puzzles that yt-dlp has to solve: `n` (unsolved, the site throttles the download; the double
 * rejects it) and the signature. yt-dlp's solver (yt_dlp_ejs) looks for a function that makes a
 * URL and sets `alr` to `yes`; a method of that function's result transforms `n`.
 */

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';

/** The player's transformation of `n`. */
export function solveThrottling(text: string): string {
  return Array.from(text)
    .reverse()
    .map((letter, place) => alphabet[(alphabet.indexOf(letter) + 7 * place + 11) % alphabet.length] ?? '')
    .join('');
}

/** The player's transformation of a signature, the same for all signatures. */
export function solveSignature(text: string): string {
  const letters = Array.from(text).reverse().slice(3);
  return [...letters.slice(9), ...letters.slice(0, 9)].join('');
}

export const signatureTimestamp = 20_400;

const puzzles = `
var alphabet=${JSON.stringify(alphabet)};
function throttling(text){return text.split("").reverse().map(function(letter,place){
return alphabet[(alphabet.indexOf(letter)+7*place+11)%alphabet.length]}).join("")}
function signature(text){var letters=text.split("").reverse().slice(3);
return letters.slice(9).concat(letters.slice(0,9)).join("")}
var Address=function(text){this.text=text;this.values={}};
Address.prototype.set=function(name,value){this.values[name]=value};
Address.prototype.get=function(name){return name in this.values?this.values[name]:null};
Address.prototype.clone=function(){return new Address(this.text)};
Address.prototype.unthrottle=function(){if(this.values.n)this.values.n=throttling(this.values.n)};
function open(text,name,secret){var address=new Address(text);address.set("alr","yes");
if(secret)address.set(name,encodeURIComponent(signature(decodeURIComponent(secret))));return address}
g.open=open;`;

/** A script whose puzzles the solver can't find, as after a change that yt-dlp does not support yet. */
export const unreadableScript = `var _double={};(function(g){var first=0;g.sts={sts:${signatureTimestamp}};})(_double);`;

/**
 * The player's script.
 * @param bytes approximate size; filled up with unused code as dense as a minified script
 */
export function playerScript(bytes = 0): string {
  const start = `var _double={};(function(g){var first=0;g.settings={signatureTimestamp:${signatureTimestamp}};${puzzles}`;
  const parts = [start];
  for (let number = 0, size = start.length; size < bytes; number += 1) {
    const part = idleCode(number);
    size += part.length;
    parts.push(part);
  }
  return `${parts.join('')}})(_double);`;
}

/** An unused class and a few unused functions. */
function idleCode(number: number): string {
  const name = `x${number.toString(36)}`;
  return (
    `var ${name}=function(a,b,c){this.a=a;this.b=b||{};this.c=c===void 0?${number}:c;this.d=[]};` +
    `${name}.prototype.e=function(a,b){for(var c=0,d=this.d.length;c<d;c++)if(this.d[c]===a||b&&this.d[c].k==="${name}")return c;return-1};` +
    `${name}.prototype.f=function(a){var b=this;return a&&a.length?a.map(function(c,d){return{k:"${name}-"+d,v:c*b.c+${number}}}):this.b[a]||null};` +
    `function ${name}y(a,b){switch(a){case ${number}:return b+1;case ${number + 1}:return b>>>2^a;default:try{return new ${name}(a,b).f([a,b])}catch(c){return null}}}` +
    `g.${name}=${name}y;`
  );
}
