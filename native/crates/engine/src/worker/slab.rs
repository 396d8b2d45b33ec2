//! A slab of records with generations: a stale event for a reused place is recognised and dropped.

/// Names one record: place and generation. The generation has 24 bits, so that kind, generation and place fit one epoll token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub index: u32,
    pub generation: u32,
}

const GENERATION_MASK: u32 = 0x00ff_ffff;

/// A slab of so few places is not worth shrinking.
const SMALL: usize = 256;

struct Place<T> {
    generation: u32,
    value: Option<T>,
}

pub struct Slab<T> {
    places: Vec<Place<T>>,
    free: Vec<u32>,
    /// Generation of new places: above that of every place that was given up.
    first_generation: u32,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new(), first_generation: 0 }
    }
}

impl<T> Slab<T> {
    /// Stores what `make` returns for the key it will have.
    pub fn insert(&mut self, make: impl FnOnce(Key) -> T) -> Key {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place { generation: self.first_generation, value: None });
            (self.places.len() - 1) as u32
        });
        let place = &mut self.places[index as usize];
        let key = Key { index, generation: place.generation };
        place.value = Some(make(key));
        key
    }

    pub fn get(&self, key: Key) -> Option<&T> {
        self.places.get(key.index as usize).filter(|p| p.generation == key.generation)?.value.as_ref()
    }

    pub fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        self.places.get_mut(key.index as usize).filter(|p| p.generation == key.generation)?.value.as_mut()
    }

    /// Takes the record out; its key is never valid again.
    pub fn remove(&mut self, key: Key) -> Option<T> {
        let place = self.places.get_mut(key.index as usize).filter(|p| p.generation == key.generation)?;
        let value = place.value.take()?;
        place.generation = (place.generation + 1) & GENERATION_MASK;
        self.free.push(key.index);
        Some(value)
    }

    pub fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Gives up the memory of free places at the end once most are free; `true` when there was something to give.
    pub fn shrink(&mut self) -> bool {
        if self.places.len() < SMALL || self.len() * 4 > self.places.len() {
            return false;
        }
        let before = self.places.len();
        while self.places.len() > SMALL
            && let Some(place) = self.places.pop_if(|p| p.value.is_none())
        {
            self.first_generation = self.first_generation.max((place.generation + 1) & GENERATION_MASK);
        }
        let places = self.places.len() as u32;
        if self.places.len() == before {
            return false;
        }
        self.free.retain(|index| *index < places);
        self.places.shrink_to_fit();
        self.free.shrink_to_fit();
        true
    }

    /// The keys of all present records. Cost: the slab's largest size so far.
    pub fn keys(&self) -> Vec<Key> {
        let present = |(index, place): (usize, &Place<T>)| {
            place.value.is_some().then_some(Key { index: index as u32, generation: place.generation })
        };
        self.places.iter().enumerate().filter_map(present).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_key_never_finds_the_next_record_in_its_place() {
        let mut slab = Slab::default();
        let first = slab.insert(|_| "first");
        assert_eq!(slab.remove(first), Some("first"));
        let second = slab.insert(|_| "second");
        assert_eq!(second.index, first.index);
        assert_eq!(slab.get(first), None);
        assert_eq!(slab.get(second), Some(&"second"));
        assert_eq!(slab.len(), 1);
        assert_eq!(slab.keys(), vec![second]);
    }

    #[test]
    fn a_slab_that_shrank_reuses_no_key() {
        let mut slab = Slab::default();
        let keys: Vec<Key> = (0..2_000).map(|n| slab.insert(|_| n)).collect();
        assert!(!slab.shrink());
        assert!(keys[10..].iter().all(|key| slab.remove(*key).is_some()));
        assert!(slab.shrink());
        assert_eq!(slab.places.len(), SMALL);
        let again: Vec<Key> = (0..2_000).map(|n| slab.insert(|_| n)).collect();
        assert!(again.iter().all(|key| !keys.contains(key)));
        assert_eq!(slab.len(), 2_010);
        assert_eq!(slab.get(keys[3]), Some(&3));
    }

    #[test]
    fn generations_wrap_inside_24_bits() {
        let mut slab = Slab::default();
        let mut key = slab.insert(|_| 0);
        slab.places[0].generation = GENERATION_MASK;
        key.generation = GENERATION_MASK;
        assert!(slab.remove(key).is_some());
        assert_eq!(slab.insert(|_| 1).generation, 0);
    }
}
