/** The parameters of every kernel, in their order; a test compares them with the build. */
export const kernelParameters = {
  applyMatte: 'pixels matte count isOpaque',
  areOpaque: 'pixels count',
  blurTiles:
    'alpha target width height kernel radius scratch side low high sums sumsOfSquares shares hasEdges from to',
  boxColumns: 'source target sums width height radius left right',
  boxRows: 'source target width radius top bottom',
  cellColours: 'pixels width height step cells top bottom',
  correctRows:
    'pixels alpha width height foreground background step clearDifference doubt scratch top bottom',
  edgeScratch: 'width gridWidth',
  findVisible: 'pixels width top bottom result',
  fullAlphaRows:
    'pixels alpha width height mask maskWidth maskHeight model step floor complete scratch top bottom',
  fullAlphaScratch: 'width gridWidth maskWidth',
  fuseCells:
    'pixels alpha width height step foreground background hasMixed cellForeground cellBackground firstRow lastRow',
  halveRows: 'source stride width height target targetStride top bottom',
  layerColumns:
    'frontRows behindRows colours foreground background sums width height radius leastCoverage someCoverage goodCoverage left right',
  lookUp: 'from to count table',
  measure: 'values count floor result',
  mixTiles: 'alpha blurred width height side shares hasEdges from to',
  momentRows: 'colours alpha moments width radius top bottom',
  replaceRows: 'pixels alpha visible width height foreground background step scratch top bottom',
  resizeColumns: 'source stride width height target targetStride firsts weights count top bottom',
  resizeRows: 'source stride target width firsts weights count top bottom',
  shareTiles:
    'width height side low high sums sumsOfSquares shares hasEdges variance fullSpan leastShare from to',
  solveColumns: 'moments model sums width height radius epsilon left right',
  stretch: 'values count lowest scale',
  transposeRows: 'source stride width height target targetStride top bottom',
  weighCells:
    'pixels alpha width height step isOpaque colours foreground background hasMixed firstRow lastRow',
} as const;
