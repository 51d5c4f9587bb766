/** Constant bit rate of MP3 that is encoded here. */
export const mp3BitrateKbps = 192;

/** Bit rate of AAC that is encoded here, for audio that MP4 players do not play. */
export const aacBitrateKbps = 160;
