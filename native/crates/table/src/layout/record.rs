//! What a record is: fixed-size, little-endian, described as data for xtask; and the macro that declares them.

/// One field of a record: where it lies and how wide it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name in the declaration (snake case).
    pub name: &'static str,
    /// Rust type as written in the table of scalars: `u8`, `u16`, `u32`, `u64` or `bytes`.
    pub kind: &'static str,
    /// Bytes from the start of the record.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
}

/// One record as data, for xtask and for the layout hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Name of the record (camel case).
    pub name: &'static str,
    /// Bytes of one record.
    pub size: usize,
    /// Fields in order.
    pub fields: &'static [Field],
}

/// A fixed-size record of little-endian fields.
pub trait Record: Sized + Copy {
    /// The record as data.
    const SHAPE: Shape;
    /// Bytes of one record.
    const SIZE: usize = Self::SHAPE.size;
    /// Reads one record from the start of `bytes`; fields beyond its end read as zero, so this cannot fail.
    fn read(bytes: &[u8]) -> Self;
    /// Writes the record to the start of `out`; what does not fit is left out.
    fn write(&self, out: &mut [u8]);
}

/// A field type that can stand in a record.
pub(super) trait Scalar: Sized + Copy {
    const KIND: &'static str;
    fn read_at(bytes: &[u8], offset: usize) -> Self;
    fn write_at(self, out: &mut [u8], offset: usize);
}

macro_rules! integer {
    ($($ty:ident),*) => {$(
        impl Scalar for $ty {
            const KIND: &'static str = stringify!($ty);
            #[inline(always)]
            fn read_at(bytes: &[u8], offset: usize) -> Self {
                match bytes.get(offset..).and_then(|rest| rest.first_chunk()) {
                    Some(chunk) => <$ty>::from_le_bytes(*chunk),
                    None => 0,
                }
            }
            #[inline(always)]
            fn write_at(self, out: &mut [u8], offset: usize) {
                if let Some(chunk) = out.get_mut(offset..).and_then(|rest| rest.first_chunk_mut()) {
                    *chunk = self.to_le_bytes();
                }
            }
        }
    )*};
}
integer!(u8, u16, u32, u64);

impl<const N: usize> Scalar for [u8; N] {
    const KIND: &'static str = "bytes";
    #[inline(always)]
    fn read_at(bytes: &[u8], offset: usize) -> Self {
        bytes.get(offset..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
    }
    #[inline(always)]
    fn write_at(self, out: &mut [u8], offset: usize) {
        if let Some(chunk) = out.get_mut(offset..).and_then(|rest| rest.first_chunk_mut()) {
            *chunk = self;
        }
    }
}

macro_rules! records {
    ($( $(#[$meta:meta])* $name:ident { $( $(#[$field_meta:meta])* $field:ident : $ty:ty, )* } )*) => {
        $(
            $(#[$meta])*
            #[repr(C)]
            #[derive(Clone, Copy, Debug, PartialEq, Eq)]
            pub struct $name { $( $(#[$field_meta])* pub $field: $ty, )* }

            impl Record for $name {
                const SHAPE: Shape = Shape {
                    name: stringify!($name),
                    size: size_of::<$name>(),
                    fields: &[ $( Field {
                        name: stringify!($field),
                        kind: <$ty as Scalar>::KIND,
                        offset: offset_of!($name, $field),
                        size: size_of::<$ty>(),
                    }, )* ],
                };
                #[inline(always)]
                fn read(bytes: &[u8]) -> Self {
                    // One bounds check for the whole record; a short slice falls back to field-wise zeros.
                    let bytes = bytes.get(..size_of::<$name>()).unwrap_or(bytes);
                    Self { $( $field: <$ty as Scalar>::read_at(bytes, offset_of!($name, $field)), )* }
                }
                #[inline(always)]
                fn write(&self, out: &mut [u8]) {
                    $( self.$field.write_at(out, offset_of!($name, $field)); )*
                }
            }

            const _: () = assert!(0 $( + size_of::<$ty>() )* == size_of::<$name>(), "hidden padding");
        )*

        /// Every record of this file, in order of declaration.
        pub(super) const RECORDS: &[Shape] = &[ $( <$name as Record>::SHAPE, )* ];
    };
}

pub(super) use records;
