// The File System Access API, which TypeScript's DOM library lacks: only Chromium has it.
interface FilePickerOptions {
  id?: string;
  startIn?: 'downloads';
  suggestedName?: string;
  mode?: 'readwrite';
}
interface Window {
  showSaveFilePicker?: (options: FilePickerOptions) => Promise<FileSystemFileHandle>;
  showDirectoryPicker?: (options: FilePickerOptions) => Promise<FileSystemDirectoryHandle>;
}
interface FileSystemHandle {
  remove?: () => Promise<void>;
}
